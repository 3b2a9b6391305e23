// Files that are dropped: onto a folder of the tree, or anywhere else to be named in the message.

import { fromServer } from "../net/api.js";

const SHOWN = 200; // ms for which the places for a drop are shown after the last move

/**
 * @param {import("../app.js").App} app
 * @param {(event: DragEvent) => string | null} folderAt of the tree; null beside it
 */
export function dragAndDrop(app, folderAt) {
  let hide = 0;
  // Something else is beneath what is held, as in an answer that grows: the browser would take a drop from us.
  document.addEventListener("dragenter", (event) => hasFiles(event) && event.preventDefault());
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault(); // or the browser would leave the page for what is dropped
    document.body.classList.add("dropping");
    clearTimeout(hide);
    hide = setTimeout(() => document.body.classList.remove("dropping"), SHOWN);
  });
  document.addEventListener("drop", async (event) => {
    if (event.defaultPrevented || !hasFiles(event)) return;
    event.preventDefault();
    const folder = folderAt(event);
    // What was dropped is gone once the event is over.
    const given = [...event.dataTransfer.files];
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    const uploads = await app.attempt(() => fromServer(import("./upload.js")));
    await uploads?.takeDropped(app, given, entries, folder);
  });
}

const hasFiles = (event) => Boolean(event.dataTransfer?.types.includes("Files"));
