// Markdown and coloured code to nodes. Whatever was markup has gone through DOMPurify: this is the
// only place where text of others can become elements.

import { api } from "../net/api.js";
import { t } from "../i18n/translate.js";
import { loadHighlight, loadMarked, loadPurify, loadSyntax } from "../lib/vendor.js";

const OPTIONS = {
  RETURN_DOM_FRAGMENT: true,
  FORBID_TAGS: [
    "style",
    "form",
    "button",
    "textarea",
    "select",
    "option",
    "svg",
    "math",
    "iframe",
    "audio",
    "video",
    "dialog",
  ],
  FORBID_ATTR: [
    "style",
    "id",
    "name",
    "tabindex",
    "accesskey",
    "contenteditable",
    "srcset",
    "usemap",
    "popover",
    "role",
    "slot",
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP:
    /^(?:https?:|mailto:|data:image\/(?:png|jpe?g|gif|webp);|#|(?![a-z][a-z0-9+.-]*:|\/\/))/i,
};

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
/** The folder that paths in what is being drawn start from. */
let base = "";
/** The address of a picture of the project by its path; "": it has none. */
let addressOf = api.rawAddress;

/** Lets pictures be taken from elsewhere: the page of an exported session has no server. */
export const takePictures = (/** @type {(path: string) => string} */ from) => (addressOf = from);

/**
 * Fetches what is needed, once. Markup in a file is a part of it; in what the model says it is shown
 * as the text it is, or a sentence about `<script>` would lose its words.
 * @returns {Promise<(markdown: string, folder?: string | null) => DocumentFragment>} *folder*: of the
 * file that *markdown* is; null if it is something that was said
 */
export function markdownReady() {
  loading ??= Promise.all([loadMarked(), loadPurify(), import("./math_syntax.js")]).then((loaded) => {
    const [{ Marked }, { default: purify }, { formulas }] = loaded;
    purify.addHook("afterSanitizeAttributes", tame);
    const file = new Marked(formulas, { gfm: true, tokenizer: { def: noFootnote } });
    const talk = new Marked(formulas, {
      gfm: true,
      tokenizer: { def: noFootnote },
      renderer: { html: shownMarkup },
      walkTokens: escapeText,
    });
    return (markdown, folder = null) => {
      base = folder ?? "";
      return purify.sanitize(/** @type {string} */ ((folder === null ? talk : file).parse(markdown)), OPTIONS);
    };
  });
  return loading;
}

const NOT_SAID = /<(?!\/?(?:br|details|kbd|sub|summary|sup)\b)/i;

function shownMarkup({ text, block }) {
  if (!NOT_SAID.test(text)) return text;
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return block ? `<pre><code class="language-html">${escaped}</code></pre>` : escaped;
}

/** A footnote is the text it is; as the address of a link it would be gone. `false`: see yourself. */
const noFootnote = (source) => (/^ {0,3}\[\^/.test(source) ? undefined : false);

/** Marked would leave the text between `<script>` and its end as it is. */
function escapeText(token) {
  if (token.type === "text") token.escaped = false;
}

/** Links leave in a new tab or open a file of the project; pictures come from the project only. */
function tame(node) {
  if (node.tagName === "A" && node.hasAttribute("href")) tameLink(node);
  if (node.tagName === "IMG") tamePicture(node);
  if (node.tagName === "INPUT") tameBox(node);
  if (node.tagName === "OL") makeRoom(node);
  if (node.hasAttribute?.("class") && node.tagName !== "CODE" && node.tagName !== "SPAN")
    node.removeAttribute("class");
}

/** No input but the box of a task in a list. */
function tameBox(box) {
  if (box.getAttribute("type") !== "checkbox") box.remove();
  box.setAttribute("disabled", "");
  box.setAttribute("aria-label", box.hasAttribute("checked") ? t("done") : t("to do"));
}

/** Says how many digits the longest number of *list* has, where they are more than usual. */
function makeRoom(list) {
  const last = (Number(list.getAttribute("start")) || 1) + list.childElementCount - 1;
  if (last > 99) list.dataset.digits = last > 9999 ? "many" : String(String(last).length);
}

function tameLink(link) {
  const href = link.getAttribute("href");
  if (/^(https?|mailto):/i.test(href)) {
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener noreferrer nofollow");
  } else if (!href.startsWith("#")) {
    link.setAttribute("href", "#");
    link.dataset.path = inProject(href.replace(/[?#].*$/, ""));
  }
}

function tamePicture(picture) {
  const source = picture.getAttribute("src") ?? "";
  picture.setAttribute("loading", "lazy");
  if (source.startsWith("data:")) return;
  // Its server would know that we are here.
  if (/^https?:/i.test(source)) return spellOut(picture, picture.alt || source);
  const path = inProject(source);
  const address = addressOf(path);
  const words = [picture.alt, path].filter(Boolean).join(": ");
  if (!address) return spellOut(picture, words);
  picture.setAttribute("src", address);
  picture.addEventListener("error", () => spellOut(picture, words), { once: true });
}

function spellOut(picture, words) {
  picture.replaceWith(document.createTextNode(`[${words}]`));
}

/** The path in the project that *reference* means, as it stands in a file of the folder *base*. */
function inProject(reference) {
  const path = decoded(reference);
  const parts = [];
  for (const part of `${path.startsWith("/") ? "" : base}/${path}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function decoded(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
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
  const [{ default: highlighter }, { default: purify }] = await Promise.all([loadHighlight(), loadPurify()]);
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
