// Phrases of the server and of the page: an English template, and values for its places.

/** @typedef {{template: string, values?: Record<string, any>}} Phrase */
/** @typedef {string | Phrase} Text */
/** @typedef {Record<string, string>} Catalogue English template -> translation */

const PLACE = /\{\{|\}\}|\{(\w+)(?:!(r))?(?::([^}]*))?\}/g;

/**
 * Says *text* in the language of *catalogue*; what has no translation stays English.
 * @param {Text | null | undefined} text
 * @param {Catalogue} catalogue
 * @returns {string}
 */
export function say(text, catalogue) {
  if (text === null || text === undefined) return "";
  if (typeof text !== "object") return String(text);
  const template = catalogue[text.template] ?? text.template;
  return fill(template, text.values ?? {}, catalogue);
}

/**
 * @param {string} template
 * @param {Record<string, any>} values
 * @param {Catalogue} catalogue
 */
export function fill(template, values, catalogue = {}) {
  return template.replace(PLACE, (place, name, quoted, form) => {
    if (place === "{{") return "{";
    if (place === "}}") return "}";
    if (!(name in values)) return place;
    const value = typeof values[name] === "object" ? say(values[name], catalogue) : values[name];
    return quoted ? `'${value}'` : formed(value, form);
  });
}

/**
 * @param {string | number} value
 * @param {string | undefined} form Python's: "," or ".1f" or ".0%"
 */
function formed(value, form) {
  if (!form || typeof value !== "number") return String(value);
  if (form === ",") return value.toLocaleString("en");
  const [, digits, kind] = /^,?\.(\d+)([f%])$/.exec(form) ?? [];
  if (kind === "%") return `${(value * 100).toFixed(Number(digits))}%`;
  return kind ? value.toFixed(Number(digits)) : String(value);
}

/**
 * The language to speak: what the address wants, else what was chosen here, else the browser's.
 * @param {string} search the query of the address
 * @param {string | null} stored
 * @param {string} browser as "zh-CN"
 * @returns {"en" | "zh"}
 */
export function pickLanguage(search, stored, browser) {
  const wanted = new URLSearchParams(search).get("lang") || stored || browser || "en";
  return wanted.toLowerCase().startsWith("zh") ? "zh" : "en";
}
