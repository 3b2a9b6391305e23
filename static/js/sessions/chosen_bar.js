// What can be done to all sessions that are chosen in the list.

import { button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";
import { api } from "../net/api.js";
import { confirmed } from "../dialogs/dialog.js";

/**
 * @param {import("../app.js").App} app
 * @param {{ids: () => string[], isArchived: () => boolean, done: () => void}} list
 */
export function chosenBar(app, { ids, isArchived, done }) {
  const words = h("span", { class: "muted", role: "status" });
  const archiveWords = h("span", {});
  const act = (picture, name, work) =>
    button({ class: "small", on: { click: () => run(work) } }, icon(picture), name);
  const archive = act("archive", archiveWords, (id) => api.changeSession(id, { archived: !isArchived() }));
  const remove = button({ class: "small", on: { click: () => removeAll() } }, icon("delete"), t("Delete"));
  const element = h("div", { class: "chosen-bar", hidden: true }, words, archive, remove);

  /** Does *work* to each that is chosen; what is refused is said, and the others are done. */
  async function run(work) {
    const chosen = ids();
    for (const id of chosen) await app.attempt(() => work(id));
    done();
    await app.refreshSessions(isArchived() ? 1 : 0);
  }

  async function removeAll() {
    const n = ids().length;
    const question = n === 1 ? t("Delete 1 session for good?") : t("Delete {n} sessions for good?", { n });
    if (await confirmed(question, t("Delete"))) await run((id) => api.deleteSession(id));
  }

  function draw() {
    const n = ids().length;
    retext(words, t("{n} chosen", { n }));
    retext(archiveWords, isArchived() ? t("Unarchive") : t("Archive"));
    archive.disabled = remove.disabled = !n;
  }
  return { element, draw };
}
