// One way to open a panel over the page: Escape and a click beside it close it, focus goes back.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../lib/words.js";

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
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
