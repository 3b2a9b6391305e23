// The left side: the sessions, which can be folded, above the files.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { remember, remembered } from "../lib/storage.js";
import { t } from "../i18n/translate.js";

/** @param {import("../app.js").App} app @param {HTMLElement} files */
export function sidePart(app, files) {
  const head = button({ class: "quiet fold", on: { click: () => fold(!isFolded) } }, icon("chevron", "turn"), t("Sessions"));
  const list = h("div", { class: "sessions-body" });
  const sessions = h("section", { class: "sessions", "aria-label": t("Sessions") }, head, list);
  let isFolded = remembered("sessions") === "0";
  const fold = (wanted) => {
    isFolded = wanted;
    remember("sessions", isFolded ? "0" : null);
    sessions.classList.toggle("folded", isFolded);
    head.setAttribute("aria-expanded", String(!isFolded));
  };
  fold(isFolded);
  app.on("unfold", () => fold(false));
  import("../sessions/sessions.js").then(({ sideSessions }) => sideSessions(app, list));
  return h("div", { class: "side" }, sessions, files);
}
