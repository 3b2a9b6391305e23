// Files that are dropped: onto a folder of the tree, or anywhere else to be named in the message.

import { mention } from "../composer/mentions.js";
import { t } from "../i18n/translate.js";

const NAMED = 20; // files at most that a message names by themselves
const SHOWN = 200; // ms for which the places for a drop are shown after the last move

/**
 * @param {import("../app.js").App} app
 * @param {(event: DragEvent) => string | null} folderAt of the tree; null beside it
 */
export function dragAndDrop(app, folderAt) {
  let hide = 0;
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
    const { dropped, upload } = await import("./upload.js");
    const files = await dropped(given, entries, folder ?? "").catch(() => []);
    if (!files.length) return app.notice(t("No readable file was dropped."), true);
    const paths = await upload(app, files);
    if (folder === null && paths.length && paths.length <= NAMED) app.emit("draft", paths.map(mention).join(""));
  });
}

const hasFiles = (event) => Boolean(event.dataTransfer?.types.includes("Files"));
