// One way to open a panel over the page: Escape and a click beside it close it, focus goes back.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";

/**
 * @param {string} title
 * @param {string} className
 * @param {(Node | string | null | false)[]} children
 * @returns {HTMLDialogElement} open; it is gone when it closes
 */
export function openDialog(title, className, children) {
  const close = button(
    { class: "quiet", "aria-label": t("Close"), title: t("Close"), on: { click: () => dialog.close() } },
    icon("close"),
  );
  const dialog = h(
    "dialog",
    { class: className, "aria-label": title },
    h("div", { class: "dialog-head" }, h("h2", { text: title }), close),
    ...children.filter(Boolean),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.target.type !== "search" || event.isComposing) return;
    event.preventDefault(); // or it would only empty the field
    dialog.close();
  });
  dialog.addEventListener("close", () => {
    placeNotices();
    dialog.remove();
    bringCaret();
  });
  document.body.append(dialog);
  dialog.showModal();
  placeNotices();
  return dialog;
}

/** Chromium leaves the caret where the dialog was: what is typed into the field that has the focus again is lost. */
function bringCaret() {
  const field = document.activeElement;
  if (field.matches("textarea")) field.setSelectionRange(field.selectionStart, field.selectionEnd);
}

let home = null; // where the notices are while no dialog is open

/** What lies below a dialog is dim, and nobody hears of it: the notices are in the one on top. */
function placeNotices() {
  const list = document.querySelector(".notices");
  home ??= list?.parentNode;
  const place = [...document.querySelectorAll("dialog[open]:not(.ask)")].at(-1) ?? home;
  if (list && list.parentNode !== place) place.append(list);
}

/**
 * Asks whether to do what cannot be taken back. Escape, a click beside it and "Cancel" are a no;
 * the focus goes back to where it was.
 * @param {string} question
 * @param {string} yes what the button that does it is called
 * @returns {Promise<boolean>}
 */
export function confirmed(question, yes) {
  const before = document.activeElement;
  return new Promise((resolve) => {
    let isWanted = false;
    const answer = (wanted) => () => {
      isWanted = wanted;
      dialog.close();
    };
    const cancel = button({ on: { click: answer(false) } }, t("Cancel"));
    const dialog = h(
      "dialog",
      { class: "ask", role: "alertdialog", "aria-labelledby": "ask-question" },
      h("p", { id: "ask-question", text: question }),
      h(
        "div",
        { class: "buttons" },
        cancel,
        button({ class: "primary danger", on: { click: answer(true) } }, yes),
      ),
    );
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      bringCaret();
      resolve(isWanted);
    });
    document.body.append(dialog);
    dialog.showModal();
    cancel.focus();
  });
}
