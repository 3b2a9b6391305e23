// A reply that grows, as Markdown: finished blocks are drawn once and stay; only the open end is
// drawn again. So a reply costs what it is long, not its square.

import { settledEnd } from "./blocks.js";
import { h } from "../lib/dom.js";
import { codeBlock } from "./code_block.js";
import { legible } from "../lib/format.js";
import { markdownReady } from "./markdown.js";
import { linkPlaces } from "./places.js";
import { outlined } from "./headings.js";
import { t } from "../i18n/translate.js";

const REST = 10; // times as long as a drawing took, until the next begins
const SLICE = 12; // ms of drawing between two looks at what else there is to do
const SLICE_OF_FRAME = 4; // where the frame in which it was asked for has its own to do
/** @type {(() => void)[]} */
const waiting = [];
let isDrawing = false;

/** Does *work* soon, the newest first: the end of a conversation is what is in sight. */
function soon(work) {
  waiting.push(work);
  if (!isDrawing) queueMicrotask(() => drawWaiting(SLICE_OF_FRAME));
  isDrawing = true;
}

function drawWaiting(slice = SLICE) {
  const end = performance.now() + slice;
  try {
    while (waiting.length && performance.now() < end) waiting.pop()();
  } finally {
    isDrawing = waiting.length > 0;
    if (isDrawing) setTimeout(() => drawWaiting());
  }
}

const RICH = "img, table, code.formula, code.displayed-formula, [data-language=mermaid], [data-language=math]";
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n?/;

export class MarkdownWriter {
  /** Characters of the text that are drawn for good. */
  #settled = 0;
  /** @type {number[]} what a next heading stands under */
  #above = [];
  #text = "";
  #isDone = false;
  /** When the open end may be drawn again, and what waits for that. */
  #next = 0;
  #later = 0;
  /** @type {((markdown: string) => DocumentFragment) | null} */
  #render = null;
  /** @type {{node: Text, length: number} | null} the code of an open fence */
  #fence = null;

  /**
   * @param {(path: string, line?: number) => void} openFile is called when a link to a file is followed
   * @param {string | null} [folder] of the file it is: markup in that means what it says
   */
  constructor(openFile, folder = null) {
    this.open = h("div", { class: "block" });
    this.element = h("div", { class: "prose", on: { click: (event) => follow(event, openFile) } }, this.open);
    markdownReady().then((render) =>
      soon(() => {
        this.#render = (markdown) => render(legible(markdown), folder);
        this.#draw();
      }),
    );
  }

  /** @param {string} text all of it, so far */
  write(text, isDone = false) {
    if (text === this.#text && isDone === this.#isDone) return;
    this.#text = text;
    this.#isDone = isDone;
    if (!this.#render) this.open.textContent = legible(text);
    else if (isDone || performance.now() >= this.#next) this.#draw();
    else this.#later ||= setTimeout(() => this.#draw(), this.#next - performance.now());
  }

  /** Work that took long is not done again soon: a list of a thousand items is one block until its end. */
  #draw() {
    clearTimeout(this.#later);
    this.#later = 0;
    const start = performance.now();
    this.#drawAll();
    this.#next = start + REST * (performance.now() - start);
  }

  #drawAll() {
    const rest = this.#text.slice(this.#settled);
    const end = this.#isDone ? rest.length : settledEnd(rest);
    if (end > 0) this.#settle(rest.slice(0, end));
    this.#drawOpen(rest.slice(end));
  }

  #settle(markdown) {
    this.#settled += markdown.length;
    this.#fence = null;
    this.open.replaceChildren();
    if (!markdown.trim()) return;
    // The open end becomes the finished block and stays where it is: nothing in sight moves.
    const block = this.open;
    block.append(outlined(this.#render(markdown), this.#above));
    finished(block).hidden = false;
    if (block.querySelector(RICH)) import("./rich.js").then(({ enrich }) => enrich(block));
    this.open = h("div", { class: "block" });
    block.after(this.open);
  }

  #drawOpen(markdown) {
    this.open.hidden = !markdown.trim();
    const fence = FENCE.exec(markdown);
    if (fence) this.#drawFence(fence[2].trim(), markdown.slice(fence[0].length));
    else if (markdown.trim() || this.open.firstChild) {
      this.#fence = null;
      this.open.replaceChildren(outlined(this.#render(markdown), [...this.#above]));
    }
  }

  /** Code that is being written only grows by what is new. */
  #drawFence(language, code) {
    if (!this.#fence) {
      const node = document.createTextNode("");
      this.open.replaceChildren(codeBlock("", language, { node }));
      this.#fence = { node, length: 0 };
    }
    this.#fence.node.appendData(legible(code.slice(this.#fence.length)));
    this.#fence.length = code.length;
  }
}

function follow(event, openFile) {
  const link = event.target.closest("a[data-path]");
  if (!link) return;
  event.preventDefault();
  openFile(link.dataset.path, Number(link.dataset.line) || undefined);
}

/** Gives code its frame and colours, wide tables their own scroll bar. */
function finished(block) {
  for (const pre of block.querySelectorAll("pre")) {
    const code = pre.firstElementChild;
    const language = /language-(\S+)/.exec(code?.className ?? "")?.[1] ?? "";
    pre.replaceWith(codeBlock((code ?? pre).textContent.replace(/\n$/, ""), language));
  }
  for (const table of block.querySelectorAll("table")) {
    const frame = h("div", { class: "wide", tabIndex: 0, role: "group", "aria-label": t("Table") });
    table.replaceWith(frame);
    frame.append(table);
  }
  return linkPlaces(block);
}
