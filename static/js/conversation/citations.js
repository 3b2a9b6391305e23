// Citations in the answer of a task: numbers that lead to what it has read, and those that do not.

import { h } from "../lib/dom.js";
import { visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";

const MARKS = /(?<![A-Za-z0-9_\]\\!])(?:\[[1-9]\d{0,2}\])+(?![[(])/g;
const ELSEWHERE = "a, code, pre, .citation"; // where a number in brackets is none

/**
 * The sources that the answer above *end* names, or null; the numbers in it become links.
 * @param {{citations: {n: number, url: string, title: string}[], unknown: number[]}} end
 * @param {() => Element} footer stands below the answer
 */
export function sources({ citations, unknown }, footer) {
  if (!citations.length && !unknown.length) return null;
  const known = new Map(citations.map((source) => [source.n, source]));
  queueMicrotask(() => {
    for (const reply of repliesAbove(footer())) keepMarked(reply, known, new Set(unknown));
  });
  return h(
    "ul",
    { class: "sources", "aria-label": t("Sources") },
    ...citations.map((source) => h("li", {}, `[${source.n}] `, link(source, visible(source.title) || source.url))),
    ...unknown.map((n) => h("li", { class: "unknown", text: t("[{n}]: not a source that was read", { n }) })),
  );
}

function* repliesAbove(footer) {
  let element = footer.previousElementSibling;
  for (; element && !element.matches(".person, .end"); element = element.previousElementSibling)
    if (element.matches(".reply")) yield element.querySelector(".prose") ?? element;
}

/** A reply may be drawn only later, or once more. */
function keepMarked(element, known, unknown) {
  const mark = () => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    for (const node of nodes) if (!node.parentElement.closest(ELSEWHERE)) markText(node, known, unknown);
  };
  mark();
  new MutationObserver(mark).observe(element, { childList: true, subtree: true });
}

function markText(node, known, unknown) {
  const text = node.data;
  const parts = [];
  let end = 0;
  for (const marks of text.matchAll(MARKS)) {
    for (const one of marks[0].matchAll(/\[(\d+)\]/g)) {
      const n = Number(one[1]);
      const at = marks.index + one.index;
      const drawn = known.has(n) ? link(known.get(n), one[0]) : unknown.has(n) && doubt(one[0]);
      if (!drawn) continue;
      parts.push(text.slice(end, at), drawn);
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
  h("span", { class: "citation unknown", title: t("not a source that was read"), text: `${text}?` });
