// Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]` become code that `rich.js` draws. Sums
// of money stay the text they are; pure.

/** No space inside the signs, no letter or digit outside of them: "$5 and $6" are two prices. */
const BETWEEN_DOLLARS = /^\$(?![\s$])((?:\\[^\n]|[^\\$\n]){0,1000}?)(?<!\s)\$(?![\w$])/;
const BETWEEN_DOUBLE = /^\$\$(?!\$)((?:\\[^\n]|[^\\$\n]){1,1000}?)\$\$(?!\$)/;
const BETWEEN_BRACKETS = /^\\\(((?:[^\\\n]|\\[^)\n]){1,1000}?)\\\)/;
const DISPLAYED = /^ {0,3}(?:\$\$(?!\$)((?:\\[^]|[^\\$])+?)\$\$|\\\[((?:[^\\]|\\[^\]])+?)\\\]) *(?:\n|$)/;
/** "5, or 6" between two dollar signs: a sum, and words that are no TeX. */
const MONEY = /^\d[\d.,]*(?:[kKmMbB]|bn)?(?=[\s,.;:)–-])(?=[^\\]*[\s,.;:(][A-Za-z]{2,}(?:[\s,.;:)]|$))[^\\]*$/;

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** @param {string} source that begins with a sign @param {string} before what stands before it */
function inlineFormula(source, before) {
  const whole = BETWEEN_DOUBLE.exec(source);
  if (whole) return { raw: whole[0], tex: whole[1], isDisplayed: true };
  const found = BETWEEN_BRACKETS.exec(source);
  if (found) return { raw: found[0], tex: found[1], isDisplayed: false };
  const priced = BETWEEN_DOLLARS.exec(source);
  if (!priced || !priced[1] || /[\w$\\]$/.test(before) || MONEY.test(priced[1])) return null;
  return { raw: priced[0], tex: priced[1], isDisplayed: false };
}

const inline = {
  name: "formula",
  level: "inline",
  start: (source) => source.search(/\$|\\\(/),
  tokenizer(source, tokens) {
    const found = inlineFormula(source, tokens.at(-1)?.raw ?? "");
    return found ? { type: "formula", ...found } : undefined;
  },
  renderer: ({ tex, isDisplayed }) =>
    `<code class="${isDisplayed ? "displayed-formula" : "formula"}">${escaped(tex.trim())}</code>`,
};

const block = {
  name: "displayed",
  level: "block",
  start: (source) => /\n {0,3}(?:\$\$|\\\[)/.exec(source)?.index,
  tokenizer(source) {
    const found = DISPLAYED.exec(source);
    const tex = found?.[1] ?? found?.[2];
    return tex?.trim() && !/\n\s*\n/.test(tex) ? { type: "displayed", raw: found[0], tex } : undefined;
  },
  renderer: ({ tex }) => `<p><code class="displayed-formula">${escaped(tex.trim())}</code></p>\n`,
};

/** What `Marked.use` takes. */
export const formulas = { extensions: [block, inline] };
