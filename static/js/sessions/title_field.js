// A field in which the title of a session, or its tags, are changed in the place where they stand.

import { h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { api } from "../net/api.js";

/**
 * @param {import("../app.js").App} app
 * @param {{id: string, title: string}} session
 * @param {(isByKey: boolean) => void} leave is called once, before the title is changed
 * @returns {HTMLInputElement} to be put somewhere and focused
 */
export function titleField(app, { id, title }, leave) {
  const keep = (wanted) => wanted && api.changeSession(id, { title: wanted });
  return editField(app, { text: title, name: t("Title"), placeholder: t("Untitled"), keep }, leave);
}

/** Gives `titleField` once the session is there: its state comes a moment after it was opened. */
export async function onceThere(app) {
  await new Promise((resolve) => {
    const unsubscribe = app.subscribe(({ sessionState }) => {
      if (sessionState) queueMicrotask(() => resolve(unsubscribe()));
    });
  });
  return titleField;
}

/**
 * Enter and leaving the field keep what was written, Escape does not.
 * @param {import("../app.js").App} app
 * @param {{text: string, name: string, placeholder: string, keep: (text: string) => any}} edited
 * @param {(isByKey: boolean) => void} leave is called once, before anything is kept
 * @returns {HTMLInputElement} to be put somewhere and focused
 */
export function editField(app, { text, name, placeholder, keep }, leave) {
  const field = h("input", { class: "title-field", value: text, placeholder, "aria-label": name });
  let isOver = false;
  const finish = (isKept, isByKey) => {
    if (isOver) return;
    isOver = true;
    const wanted = field.value.trim();
    leave(isByKey);
    if (isKept && wanted !== text) app.attempt(() => keep(wanted));
  };
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation(); // Escape would close the list, or stop the task
    finish(event.key === "Enter", true);
  });
  field.addEventListener("blur", () => finish(true, false));
  return field;
}
