// Shows the question that waits, if there is one, above the composer.

import { h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { openQuestion } from "../store/selectors.js";

const AGAIN = 2000; // ms until the card is fetched again that could not be had

/** @param {import("../app.js").App} app */
export function approval(app) {
  const element = h("div", { class: "approval-place" });
  let asked = "";
  let boot = "";
  let card = null;
  app.subscribe((state) => {
    const item = openQuestion(state.transcript.items, state.sessionState?.asked ?? []);
    const isOfOther = boot !== state.sessionState?.boot; // who asks anew what was open is another server
    boot = state.sessionState?.boot;
    if (nameOf(item) === asked) return;
    asked = nameOf(item);
    if (isOfOther && item && card && !card.isAnswered && textOf(item) === textOf(card.item)) {
      card.item = item;
      return;
    }
    if (card?.isBegun && state.sessionState?.running && !state.sessionState.stopping)
      app.notice(t("Already answered on another screen."), true);
    card = null;
    element.replaceChildren();
    if (item) ask(item, state.sessionState.asked.length);
    else app.emit("answered");
  });

  async function ask(item, waiting) {
    const isOpen = item.question.risk === "question";
    const module = isOpen ? import("./person_question.js") : import("./question.js");
    const cards = await module.catch(() => null);
    if (nameOf(item) !== asked) return;
    if (!cards) return setTimeout(() => ask(item, waiting), AGAIN);
    card = new cards.QuestionCard(item, app, waiting);
    element.replaceChildren(card.element);
    app.emit("asked", card);
  }
  return { element, key: (letter) => card?.key(letter) ?? false };
}

/** The same question stays the same card over reconnects; asked anew it is not, unless by another server. */
const nameOf = (item) => (item ? `${item.id} ${item.question.key}` : "");

/** All that is to be read of a question. */
const textOf = ({ id, arguments: given, question }) => JSON.stringify([id, given, { ...question, key: "" }]);
