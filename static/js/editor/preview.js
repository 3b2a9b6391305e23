// Files that say more as a picture than as text.

import { button, h } from "../lib/dom.js";
import { folderOf, nameOf, visible } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { evened, rows } from "./csv.js";
import { addTableTools } from "../tables/table_tools.js";
import { enlargeable } from "../markdown/large.js";
import { MarkdownWriter } from "../markdown/writer.js";
import { api } from "../net/api.js";
import { t } from "../i18n/translate.js";

const KINDS = {
  image: /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i,
  pdf: /\.pdf$/i,
  html: /\.html?$/i,
  markdown: /\.(md|markdown)$/i,
  csv: /\.(csv|tsv)$/i,
  audio: /\.(mp3|ogg|oga|opus|m4a|wav|flac)$/i,
  video: /\.(mp4|m4v|webm|ogv)$/i,
  notebook: /\.ipynb$/i,
};

const MOST_ROWS = 500;
const DOCUMENT = /\.(docx|docm|pptx|pptm|ppsx|xlsx|xlsm|od[tps]|epub)$/i;

/** Whether the file *path* is a document whose pages can be drawn. @param {string} path */
export const isDocument = (path) => DOCUMENT.test(path);

/** @param {string} path @returns {string} "" when there is none */
export const previewKind = (path) => Object.keys(KINDS).find((kind) => KINDS[kind].test(path)) ?? "";

/**
 * @param {string} kind
 * @param {string} path
 * @param {string} text of the file, for those that are drawn from it
 * @param {import("../app.js").App} app
 */
export function preview(kind, path, text, app) {
  const openFile = (other, line) => app.emit("open", { path: other, line });
  const source = api.rawAddress(path);
  const name = visible(nameOf(path));
  switch (kind) {
    case "image":
      return h("div", { class: "preview image" }, enlargeable(replacedIfBroken(h("img", { src: source, alt: name }))));
    case "pdf":
      return h("iframe", { class: "preview", src: source, title: name });
    case "html":
      return htmlPage(app, path, h("iframe", { class: "preview", src: source, title: name, sandbox: "" }));
    case "audio":
      return h("div", { class: "preview" }, replacedIfBroken(h("audio", { src: source, controls: true, "aria-label": name })));
    case "video":
      return h("div", { class: "preview" }, replacedIfBroken(h("video", { src: source, controls: true, "aria-label": name })));
    case "notebook":
      return notebook(text, path, openFile);
    case "csv":
      return csvTable(text, name);
    default:
      return markdown(text, path, openFile);
  }
}

/**
 * Scrolls *element* to *top* as soon as what is drawn in it reaches that far, unless the reader
 * scrolls first.
 * @param {HTMLElement} element @param {number} top
 */
export function keepScroll(element, top) {
  const stop = new AbortController();
  const sizes = new ResizeObserver(() => {
    element.scrollTop = top;
    if (element.scrollTop >= top - 1) stop.abort();
  });
  for (const event of ["wheel", "pointerdown", "keydown"])
    element.addEventListener(event, () => stop.abort(), { signal: stop.signal, passive: true });
  stop.signal.addEventListener("abort", () => sizes.disconnect());
  for (const child of element.children) sizes.observe(child);
}

function markdown(text, path, openFile) {
  const writer = new MarkdownWriter(openFile, folderOf(path));
  writer.write(text, true);
  return h("div", { class: "preview padded" }, writer.element);
}

/** Cells as soon as what draws them is there. */
function notebook(text, path, openFile) {
  const place = h("div", { class: "preview padded notebook" });
  import("./notebook.js").then(({ drawNotebook }) => drawNotebook(place, text, path, openFile));
  return place;
}

/** The page as *frame* shows it, without its scripts, and the way to run them. */
function htmlPage(app, path, frame) {
  const run = button({ class: "small" }, icon("play"), t("Run its scripts"));
  const words = h("span", { class: "muted", text: t("Shown without its scripts.") });
  const bar = h("div", { class: "html-bar" }, words, run);
  const element = h("div", { class: "html-preview" }, bar, frame);
  run.addEventListener("click", async () => {
    run.disabled = true;
    const running = await import("./running_page.js")
      .then(({ runPage }) => runPage(app, path))
      .finally(() => (run.disabled = false));
    if (!running) return;
    frame.replaceWith(running);
    run.replaceChildren(icon("refresh"), t("Run it again"));
    words.textContent = t("Its scripts run in a separate origin, without network access.");
    frame = running;
  });
  return element;
}

/** *element*, or what says that it cannot be shown. @param {HTMLElement} element */
function replacedIfBroken(element) {
  const broken = () => element.replaceWith(h("p", { class: "muted broken", text: t("This file is damaged, or its format is unknown to this browser.") }));
  element.addEventListener("error", broken, { once: true });
  return element;
}

/** A table that is not whole neither sorts nor copies: both would be taken for all of it. */
function csvTable(text, name) {
  const [head, ...found] = evened(rows(text, MOST_ROWS + 2));
  if (!head) return h("p", { class: "preview padded muted", text: t("This file is empty.") });
  const body = found.slice(0, MOST_ROWS);
  const table = h(
    "table",
    { class: "csv" },
    h("caption", { class: "offscreen", text: name }),
    h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col", text: visible(cell) })))),
    h("tbody", {}, ...body.map((row) => h("tr", {}, ...row.map((cell) => h("td", { text: visible(cell) }))))),
  );
  const frame = h("div", { class: "wide", tabIndex: 0, role: "group", "aria-label": t("Table") }, table);
  const element = h("div", { class: "preview" }, frame);
  if (body.length === found.length) addTableTools(table);
  else element.prepend(h("p", { class: "muted cut", text: t("Only the first rows are shown. Turn off Preview to see all as text.") }));
  return element;
}
