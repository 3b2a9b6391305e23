// Citations in the replies of a task: numbers that lead to what it has read, and those that do not.

import { h } from "../lib/dom.js";
import { visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";

const MARKS = /(?<![A-Za-z0-9_\]\\!])(?:\[[1-9]\d{0,2}\])+(?![[(])/g;
const ELSEWHERE = "a, code, pre, .citation"; // where a number in brackets is none

/**
 * The sources that the answer of a task names, as a list to stand below it, or null.
 * @param {{citations: {n: number, url: string, title: string}[], unknown: number[]}} end
 */
export function sources({ citations, unknown }) {
  if (!citations.length && !unknown.length) return null;
  return h(
    "ul",
    { class: "sources", "aria-label": t("Sources") },
    ...citations.map((source) => h("li", {}, `[${source.n}] `, link(source, visible(source.title) || source.url))),
    ...unknown.map((n) => h("li", { class: "unknown", text: t("[{n}]: source not read", { n }) })),
  );
}

/**
 * Makes links of what cites in *prose*, a whole reply, which may be drawn only later, or once more.
 * @param {Element} prose
 * @param {Record<number, {url: string, title: string}>} known the sources read so far, by number
 */
export function linkCitations(prose, known) {
  const mark = () => {
    const walker = document.createTreeWalker(prose, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    for (const node of nodes) if (!node.parentElement.closest(ELSEWHERE)) markText(node, known);
  };
  mark();
  new MutationObserver(mark).observe(prose, { childList: true, subtree: true });
}

function markText(node, known) {
  const text = node.data;
  const parts = [];
  let end = 0;
  for (const marks of text.matchAll(MARKS)) {
    for (const one of marks[0].matchAll(/\[(\d+)\]/g)) {
      const source = known[one[1]];
      const at = marks.index + one.index;
      parts.push(text.slice(end, at), source ? link(source, one[0]) : doubt(one[0]));
      end = at + one[0].length;
    }
  }
  if (parts.length) node.replaceWith(...parts, text.slice(end));
}

function link({ url, title }, text) {
  if (!/^https?:\/\//i.test(url)) return h("span", { class: "citation", title: visible(url), text });
  const attributes = { href: url, target: "_blank", rel: "noopener noreferrer nofollow" };
  return h("a", { class: "citation", title: `${visible(title)}\n${visible(url)}`, ...attributes, text });
}

const doubt = (text) =>
  h("span", { class: "citation unknown", title: t("source not read"), text: `${text}?` });
