// One way to open a panel over the page: Escape and a click beside it close it, focus goes back.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";

/**
 * @param {string} title that of one dialog: asked for again, as by a second press while its script comes, it is drawn anew
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
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.target.type !== "search" || event.isComposing) return;
    event.preventDefault(); // or it would only empty the field
    dialog.close();
  });
  for (const other of document.querySelectorAll("dialog[open]")) if (other.getAttribute("aria-label") === title) other.close();
  show(dialog, placeNotices);
  placeNotices();
  return dialog;
}

/**
 * Shows *dialog*, and has it gone and *leave* done as soon as it is closed: "close" is told a while later, and keys that
 * are typed until then are to count already.
 * @param {HTMLDialogElement} dialog @param {() => void} leave
 */
function show(dialog, leave) {
  dialog.close = () => {
    if (!dialog.open) return;
    HTMLDialogElement.prototype.close.call(dialog);
    leave();
    dialog.remove();
    bringCaret();
  };
  dialog.addEventListener("cancel", (event) => {
    if (event.target !== dialog) return; // of a field for files
    event.preventDefault();
    dialog.close();
  });
  closeBeside(dialog);
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * Closes *dialog* when it is clicked beside it: its own margins are not, nor is a press that began in it, as to mark words.
 * @param {HTMLDialogElement} dialog
 */
function closeBeside(dialog) {
  const isBeside = ({ target, clientX, clientY }) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    return target === dialog && (clientX < left || clientX > right || clientY < top || clientY > bottom);
  };
  let hasBegun = false;
  dialog.addEventListener("pointerdown", (event) => (hasBegun = isBeside(event)));
  dialog.addEventListener("click", (event) => {
    if (hasBegun && isBeside(event)) dialog.close();
  });
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
    show(dialog, () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      resolve(isWanted);
    });
    cancel.focus();
  });
}
