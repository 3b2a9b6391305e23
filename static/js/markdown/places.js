// Places in files that a text names, as `src/app.py:12`, become links that open them.

import { h } from "../lib/dom.js";

const LETTERS = String.raw`\p{L}\p{M}\p{N}_`;
const NAMED = "Makefile|Dockerfile|Containerfile|Jenkinsfile|Justfile|Gemfile|Rakefile|Procfile|LICENSE|README";
const PATH = String.raw`(?:\.{0,2}\/)?(?:[${LETTERS}.+@-]+\/)*(?:[${LETTERS}+@-][${LETTERS}.+@-]*\.[A-Za-z]\w{0,9}|\p{Script=Han}*(?:${NAMED}))`;
const PLACE = new RegExp(
  String.raw`(?<![${LETTERS}./:@-])(${PATH}):(\d{1,7})(?::\d{1,5})?(?![\w/])|File "([^"\n]+)", line (\d{1,7})`,
  "gu",
);
/** What stands before a name in a text without spaces, as in 见src/app.py:3; a name may be 设计.md, too. */
const BEFORE = /^\p{Script=Han}+(?=\w|\.{0,2}\/|\.\w+\/)/u;
const HOST = /^[^/]*\.(?:com|dev|io|local|net|org)$/i; // and a port
const ELSEWHERE = "a, button, pre.code-text, .code";

/** Links the places that the text in *root* names, but not in a block of code. @param {Element} root */
export function linkPlaces(root) {
  if (!/[\w"]:? ?\d|, line \d/.test(root.textContent ?? "")) return root;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const nodes = [];
  while (walker.nextNode()) nodes.push(/** @type {Text} */ (walker.currentNode));
  for (const node of nodes) if (!node.parentElement?.closest(ELSEWHERE)) linkIn(node);
  return root;
}

/** @param {Text} node */
function linkIn(node) {
  const parts = [];
  let end = 0;
  for (const found of node.data.matchAll(PLACE)) {
    const [whole, named, line, file, fileLine] = found;
    const before = named && !node.parentElement?.closest("code") ? (BEFORE.exec(named)?.[0] ?? "") : "";
    const path = named?.slice(before.length);
    if (path && HOST.test(path)) continue;
    const text = whole.slice(before.length);
    parts.push(node.data.slice(end, found.index + before.length), placeLink(path ?? file, line ?? fileLine, text));
    end = found.index + whole.length;
  }
  if (parts.length) node.replaceWith(...parts, node.data.slice(end));
}

const placeLink = (path, line, text) => h("a", { href: "#", class: "place", data: { path, line }, text });
