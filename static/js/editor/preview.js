// Files that say more as a picture than as text.

import { h } from "../lib/dom.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { rows } from "./csv.js";
import { MarkdownWriter } from "../markdown/writer.js";
import { api } from "../net/api.js";
import { t } from "../i18n/translate.js";

const KINDS = {
  image: /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i,
  pdf: /\.pdf$/i,
  html: /\.html?$/i,
  markdown: /\.(md|markdown)$/i,
  csv: /\.(csv|tsv)$/i,
  audio: /\.(mp3|ogg|wav|flac)$/i,
  video: /\.(mp4|webm)$/i,
};

/** @param {string} path @returns {string} "" when there is none */
export const previewKind = (path) => Object.keys(KINDS).find((kind) => KINDS[kind].test(path)) ?? "";

/**
 * @param {string} kind
 * @param {string} path
 * @param {string} text of the file, for those that are drawn from it
 * @param {(path: string) => void} openFile
 */
export function preview(kind, path, text, openFile) {
  const source = api.rawAddress(path);
  const name = visible(nameOf(path));
  switch (kind) {
    case "image":
      return h("div", { class: "preview image" }, h("img", { src: source, alt: name }));
    case "pdf":
      return h("iframe", { class: "preview", src: source, title: name });
    case "html":
      return h("iframe", { class: "preview", src: source, title: name, sandbox: "" });
    case "audio":
      return h("div", { class: "preview" }, h("audio", { src: source, controls: true, "aria-label": name }));
    case "video":
      return h("div", { class: "preview" }, h("video", { src: source, controls: true, "aria-label": name }));
    case "csv":
      return csvTable(text, name);
    default:
      return markdown(text, path, openFile);
  }
}

function markdown(text, path, openFile) {
  const writer = new MarkdownWriter(openFile, folderOf(path));
  writer.write(text, true);
  return h("div", { class: "preview padded" }, writer.element);
}

function csvTable(text, name) {
  const [head = [], ...body] = rows(text);
  return h(
    "div",
    { class: "preview wide", tabIndex: 0, role: "group", "aria-label": t("Table") },
    h(
      "table",
      { class: "csv" },
      h("caption", { class: "offscreen", text: name }),
      h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col", text: visible(cell) })))),
      h(
        "tbody",
        {},
        ...body.map((row) => h("tr", {}, ...row.map((cell) => h("td", { text: visible(cell) })))),
      ),
    ),
  );
}
