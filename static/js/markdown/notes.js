// Footnotes and alerts as GitHub writes them: `[^1]`, `[^1]: its text`, and a quote that begins with
// `[!NOTE]`. A label of a footnote is a number: `[^a-z]` is more often a part of a pattern.

import { h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";

const MARK = /^\[\^(\d{1,3})\](?!:)/;
const TEXT = /^ {0,3}\[\^(\d{1,3})\]:[ \t]*([^\n]*(?:\n(?! {0,3}\[\^\d)[^\n]*\S[^\n]*)*)(?:\n|$)/;

const mark = {
  name: "footnote",
  level: "inline",
  start: (source) => source.indexOf("[^"),
  tokenizer(source) {
    const found = MARK.exec(source);
    return found ? { type: "footnote", raw: found[0], label: found[1] } : undefined;
  },
  renderer: ({ label }) => `<sup>${label}</sup>`,
};

const text = {
  name: "footnoteText",
  level: "block",
  start: (source) => /\n {0,3}\[\^\d/.exec(source)?.index,
  tokenizer(source) {
    const found = TEXT.exec(source);
    if (!found) return undefined;
    return { type: "footnoteText", raw: found[0], label: found[1], tokens: this.lexer.inlineTokens(found[2]) };
  },
  renderer({ label, tokens }) {
    return `<p><sup>${label}</sup> ${this.parser.parseInline(tokens)}</p>\n`;
  },
};

/** What `Marked.use` takes. */
export const footnotes = { extensions: [text, mark] };

const ALERT = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i;
const TITLES = {
  note: () => t("Note"),
  tip: () => t("Tip"),
  important: () => t("Important"),
  warning: () => t("Warning"),
  caution: () => t("Caution"),
};

/** Gives each alert in *fragment* its title in words. @param {DocumentFragment} fragment */
export function drawAlerts(fragment) {
  for (const quote of fragment.querySelectorAll("blockquote")) {
    const first = quote.firstElementChild;
    const said = first?.tagName === "P" ? first.firstChild : null;
    const found = said instanceof Text ? ALERT.exec(said.data) : null;
    if (!found) continue;
    const kind = found[1].toLowerCase();
    quote.dataset.alert = kind;
    /** @type {Text} */ (said).data = /** @type {Text} */ (said).data.slice(found[0].length);
    if (first.firstChild instanceof Text && !first.textContent.trim()) first.remove();
    quote.prepend(h("p", { class: "alert-title", text: TITLES[kind]() }));
  }
  return fragment;
}
