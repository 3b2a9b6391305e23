// Files from the person's computer into the project.

import { api } from "../net/api.js";
import { visible } from "../lib/format.js";
import { mention } from "../composer/mentions.js";
import { t } from "../i18n/translate.js";
import { joined } from "./tree_model.js";
import { confirmed } from "../dialogs/dialog.js";

const NAMED = 20; // dropped files at most that a message names by themselves

/** @typedef {{folder: string, file: File}} Upload a file, and where it goes */

/** @param {Iterable<File>} files @param {string} [folder] @returns {Upload[]} */
const into = (files, folder = "") => [...files].map((file) => ({ folder, file }));

/**
 * Adds *files* to the project, and names them in the message.
 * @param {import("../app.js").App} app
 * @param {File[]} files
 */
export const addAndName = async (app, files) => named(app, await upload(app, into(files)));

/**
 * Adds what was dropped onto *folder*; beside the tree (null) it is named in the message as well.
 * @param {import("../app.js").App} app
 * @param {File[]} files
 * @param {FileSystemEntry[]} entries
 * @param {string | null} folder
 */
export async function takeDropped(app, files, entries, folder) {
  const found = await dropped(files, entries, folder ?? "").catch(() => []);
  if (!found.length) return app.notice(t("No readable file was dropped."), true);
  const paths = await upload(app, found);
  if (folder === null && paths.length <= NAMED) named(app, paths);
}

function named(app, paths) {
  if (paths.length) app.emit("draft", paths.map(mention).join(""));
}

/**
 * Lists what was dropped, with all that is in its folders.
 * @param {File[]} files as the browser hands them out: a folder is one as well
 * @param {FileSystemEntry[]} entries the same, if the browser knows more of them
 * @param {string} folder where it goes
 * @returns {Promise<Upload[]>}
 */
async function dropped(files, entries, folder) {
  if (!entries.some((entry) => entry.isDirectory)) return into(files, folder);
  return (await Promise.all(entries.map((entry) => allOf(entry, folder)))).flat();
}

/** @returns {Promise<Upload[]>} */
async function allOf(entry, folder) {
  if (entry.isFile) return into([await new Promise((resolve, reject) => entry.file(resolve, reject))], folder);
  const found = [];
  const reader = entry.createReader();
  for (;;) {
    // The browser hands a folder out by parts; the last one is empty.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return found;
    for (const each of part) found.push(...(await allOf(each, joined(folder, entry.name))));
  }
}

/**
 * @param {import("../app.js").App} app
 * @param {Upload[]} files
 * @returns {Promise<string[]>} where they stand now
 */
async function upload(app, files) {
  const paths = [];
  for (const { folder, file } of files) {
    const done = await app.attempt(() => put(folder, file));
    if (done) paths.push(done.path);
  }
  if (paths.length)
    app.notice(
      paths.length === 1
        ? t("Added {path} to the project.", { path: visible(paths[0]) })
        : t("Added {n:,} files to the project.", { n: paths.length }),
    );
  return paths;
}

async function put(folder, file) {
  try {
    return await api.upload(folder, file);
  } catch (refusal) {
    const question = t("{name} already exists. Replace it?", { name: visible(joined(folder, file.name)) });
    if (refusal.code !== "exists") throw refusal;
    return (await confirmed(question, t("Replace"))) ? api.upload(folder, file, 1) : null;
  }
}
