// A field in which the title of a session is changed, in the place where it stands.

import { h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { api } from "../net/api.js";

/**
 * Enter and leaving the field keep what was written, Escape does not.
 * @param {import("../app.js").App} app
 * @param {{id: string, title: string}} session
 * @param {(isByKey: boolean) => void} leave is called once, before the title is changed
 * @returns {HTMLInputElement} to be put somewhere and focused
 */
export function titleField(app, { id, title }, leave) {
  const field = h("input", {
    class: "title-field",
    value: title,
    placeholder: t("Untitled"),
    "aria-label": t("Title"),
  });
  let isOver = false;
  const finish = (isKept, isByKey) => {
    if (isOver) return;
    isOver = true;
    const wanted = field.value.trim();
    leave(isByKey);
    if (isKept && wanted && wanted !== title)
      app.attempt(() => api.changeSession(id, { title: wanted }));
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
