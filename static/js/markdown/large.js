// Pictures in a text that open large when they are pressed.

import { button, h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";

/**
 * Puts *picture* into a button that opens it large.
 * @param {HTMLImageElement} picture
 * @param {string} [className] of the button
 */
export function enlargeable(picture, className = "enlarges") {
  const name = picture.alt || t("Picture");
  const open = async () => {
    const { openDialog } = await import("../dialogs/dialog.js");
    openDialog(name, "picture-sheet large", [h("img", { src: picture.src, alt: name })]);
  };
  const opener = button({ class: className, title: t("Show it large"), on: { click: open } });
  picture.replaceWith(opener);
  opener.append(picture);
  // What says that it cannot be loaded is no picture to open.
  picture.addEventListener("error", () => opener.replaceWith(...opener.childNodes), { once: true });
  return opener;
}
