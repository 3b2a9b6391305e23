// The program that a call runs: of a long one the middle is folded, and a button shows all of it.

import { button, h } from "../lib/dom.js";
import { codeBlock } from "../markdown/code_block.js";
import { colour } from "../markdown/markdown.js";
import { visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";

const HEAD = 10; // rows shown above the fold
const TAIL = 5; // and below it
const LEAST = 3; // rows that are worth a fold
const WIDE = 100; // characters of a row

/** The programs that were unfolded: they stay so when they are drawn again. */
const unfolded = new Set();

/** @param {string} text @param {string} language @returns {HTMLElement} */
export function programBlock(text, language) {
  const [end, start] = [after(text, HEAD), before(text, TAIL)];
  if (unfolded.has(text) || after(text, HEAD + LEAST) > start) return codeBlock(text, language);
  const block = codeBlock(text.slice(0, end).replace(/\n$/, ""), language, { copied: text });
  const unfold = () => {
    unfolded.add(text);
    const all = codeBlock(text, language);
    block.replaceWith(all);
    all.querySelector("pre").focus();
  };
  const rest = h("code", {}, visible(text.slice(start)));
  colour(rest, language);
  block.append(
    button({ class: "more", "aria-expanded": "false", on: { click: unfold } }, t("Show all")),
    h("pre", { tabIndex: 0, "aria-label": t("Code") }, rest),
  );
  return block;
}

/** The end of the first *rows* rows of *text*. */
function after(text, rows) {
  let at = 0;
  for (let row = 0; row < rows && at < text.length; row += 1) {
    const newline = text.indexOf("\n", at);
    at = newline < 0 || newline - at > WIDE ? whole(text, at + WIDE) : newline + 1;
  }
  return Math.min(at, text.length);
}

/** The beginning of the last *rows* rows of *text*. */
function before(text, rows) {
  let at = text.length;
  for (let row = 0; row < rows && at > 0; row += 1) {
    const newline = text.lastIndexOf("\n", at - 2);
    at = at - newline > WIDE + 1 ? whole(text, at - WIDE) : newline + 1;
  }
  return Math.max(at, 0);
}

/** The place *at*, or the one after it where that would part a character of two halves. */
function whole(text, at) {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}
