// A question of a session that works in another process, asked in the board.

import { h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { request } from "../net/api.js";

/**
 * Returns the question that *work* asks, in a row of its own; an answer is for that one alone.
 * @param {import("../app.js").App} app
 * @param {string} board the session from which it is reached
 * @param {import("./agents_sheet.js").Work} work
 * @param {() => void} leave called once it is answered, or is over
 */
export async function askedElsewhere(app, board, work, leave) {
  const where = `/api/sessions/${board}/work`;
  const told = await request("GET", `${where}/question?what=${encodeURIComponent(work.session)}`);
  const { key, event } = told;
  const { QuestionCard } = await (event.risk === "question" ? import("../approval/person_question.js") : import("../approval/question.js"));
  const asking = { emit: app.emit.bind(app), notice: app.notice.bind(app), answer };
  const item = { id: event.call_id, name: event.name, arguments: told.arguments ?? {}, question: event };
  const card = new QuestionCard(item, asking, 1);
  return { work, element: h("li", { class: "agents-question", tabIndex: -1, "aria-label": t("Question") }, card.element) };

  async function answer(_call, reply) {
    const body = { what: work.session, ...reply, key };
    await app.attempt(() => request("POST", `${where}/answer`, { body }));
    leave();
    return { won: true }; // else that was said
  }
}
