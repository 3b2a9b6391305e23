// A picture of the conversation: a thumbnail that opens it large.

import { h } from "../lib/dom.js";
import { size } from "../lib/format.js";

/** "PNG, 1024×768, 340 kB" */
const measures = (picture) => `${picture.format}, ${picture.width}×${picture.height}, ${size(picture.size)}`;

/**
 * @param {import("../composer/attachments.js").Picture} picture
 * @param {string} address
 */
export function pictureButton(picture, address) {
  const words = `${picture.name}, ${measures(picture)}`;
  const image = () => h("img", { src: address, alt: words });
  const open = async () => {
    const { openDialog } = await import("../dialogs/dialog.js");
    openDialog(picture.name, "picture-sheet", [image(), h("p", { class: "muted", text: measures(picture) })]);
  };
  return h("button", { type: "button", class: "picture", title: words, on: { click: open } }, image());
}

/** The pictures of a message; null if it has none. */
export const pictureRow = (pictures, addressOf) =>
  pictures?.length && addressOf
    ? h("div", { class: "pictures" }, ...pictures.map((one) => pictureButton(one, addressOf(one.digest))))
    : null;
