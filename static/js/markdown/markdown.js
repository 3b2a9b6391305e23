// Markdown and coloured code to nodes. Whatever was markup has gone through DOMPurify: this is the
// only place where text of others can become elements. What they may be is in `lib/sanitizing.js`.

import { api } from "../net/api.js";
import { loadHighlight, loadMarked, loadPurify, loadSyntax } from "../lib/vendor.js";

const SAME = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  py: "python",
  python3: "python",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  ts: "typescript",
  tsx: "typescript",
  html: "xml",
  svg: "xml",
  htm: "xml",
  yml: "yaml",
  md: "markdown",
  rs: "rust",
  rb: "ruby",
  "c++": "cpp",
  cs: "csharp",
  toml: "ini",
  docker: "dockerfile",
  make: "makefile",
  kt: "kotlin",
  golang: "go",
  patch: "diff",
  h: "c",
  hpp: "cpp",
};
const SYNTAXES = new Set(
  `bash c cpp csharp css diff dockerfile go ini java javascript json kotlin lua makefile
  markdown php python r ruby rust sql swift typescript xml yaml`.split(/\s+/),
);
const LONGEST = 200_000; // characters of code that are still coloured

let loading;
/** The address of a picture of the project by its path; "": it has none. */
let addressOf = api.rawAddress;

/** Lets pictures be taken from elsewhere: the page of an exported session has no server. */
export const takePictures = (/** @type {(path: string) => string} */ from) => (addressOf = from);

/**
 * Fetches what is needed, once; asks again after a failure. Markup in a file is a part of it; in what
 * the model says it is shown as the text it is, or a sentence about `<script>` would lose its words.
 * @returns {Promise<(markdown: string, folder?: string | null) => DocumentFragment>} *folder*: of the
 * file that *markdown* is; null if it is something that was said
 */
export function markdownReady() {
  loading ??= Promise.all([
    loadMarked(),
    loadPurify(),
    import("./math_syntax.js"),
    import("./notes.js"),
    import("../lib/sanitizing.js"),
  ]).then(made, (problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

function made(loaded) {
  const [{ Marked }, { default: purify }, { formulas }, { footnotes, drawAlerts }, { tame, OPTIONS }] = loaded;
  let base = "";
  purify.addHook("afterSanitizeAttributes", (node) => tame(node, base, addressOf));
  const file = new Marked(formulas, footnotes, { gfm: true, tokenizer: { def: noFootnote } });
  const talk = new Marked(formulas, footnotes, {
    gfm: true,
    tokenizer: { def: noFootnote },
    renderer: { html: shownMarkup },
    walkTokens: escapeText,
  });
  return (markdown, folder = null) => {
    base = folder ?? "";
    const drawn = /** @type {string} */ ((folder === null ? talk : file).parse(markdown));
    return drawAlerts(purify.sanitize(drawn, OPTIONS));
  };
}

const NOT_SAID = /<(?!\/?(?:br|details|kbd|sub|summary|sup)\b)/i;

function shownMarkup({ text, block }) {
  if (!NOT_SAID.test(text)) return text;
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return block ? `<pre><code class="language-html">${escaped}</code></pre>` : escaped;
}

/** A footnote with a name is the text it is; as the address of a link it would be gone. `false`: see yourself. */
const noFootnote = (source) => (/^ {0,3}\[\^/.test(source) ? undefined : false);

/** Marked would leave the text between `<script>` and its end as it is. */
function escapeText(token) {
  if (token.type === "text") token.escaped = false;
}

/**
 * The name of the syntax we have for *name*, or "".
 * @param {string} name
 */
export function syntaxOf(name) {
  const known = SAME[name.toLowerCase()] ?? name.toLowerCase();
  return SYNTAXES.has(known) ? known : "";
}

const ready = new Map();

/**
 * Colours the text of *element*, if it is in a syntax that we have; its text stays the same.
 * @param {HTMLElement} element
 * @param {string} name
 */
export async function colour(element, name) {
  const text = element.textContent ?? "";
  const drawn = await coloured(text, name);
  if (drawn && element.textContent === text) element.replaceChildren(drawn);
}

/**
 * Returns *text* in its colours, or null where there is no syntax of ours that is called *name*.
 * @param {string} text
 * @param {string} name
 * @returns {Promise<DocumentFragment | null>}
 */
export async function coloured(text, name) {
  const syntax = syntaxOf(name);
  if (!syntax || !text || text.length > LONGEST) return null;
  const [{ default: highlighter }, { default: purify }, { OPTIONS }] = await Promise.all([
    loadHighlight(),
    loadPurify(),
    import("../lib/sanitizing.js"),
  ]);
  if (!ready.has(syntax)) {
    ready.set(
      syntax,
      loadSyntax(syntax).then((module) => highlighter.registerLanguage(syntax, module.default)),
    );
  }
  await ready.get(syntax);
  const { value } = highlighter.highlight(text, { language: syntax, ignoreIllegals: true });
  return purify.sanitize(value, { ...OPTIONS, ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"] });
}
