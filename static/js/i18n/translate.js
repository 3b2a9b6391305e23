// The page in the language of the person: `t` for its own sentences, `say` for the server's.

import { fill, pickLanguage, say as sayIn } from "./phrases.js";
import { remembered, remember } from "../lib/storage.js";

export const language = pickLanguage(location.search, remembered("language"), navigator.language);

async function load() {
  if (language === "en") return {};
  const names = [`${language}.json`, `page.${language}.json`];
  const parts = await Promise.all(
    names.map((name) => fetch(new URL(`../../i18n/${name}`, import.meta.url)).then((answer) => answer.json())),
  );
  return Object.assign({}, ...parts);
}

/** @type {Promise<import("./phrases.js").Catalogue>} */
const loading = load().catch(() => ({}));
/** @type {import("./phrases.js").Catalogue} */
let catalogue = {};

/** Wait for this before the first sentence. */
export async function translationsReady() {
  catalogue = await loading;
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}

/**
 * Says a sentence of the page. A test finds every literal *template* and wants it translated.
 * @param {string} template
 * @param {Record<string, any>} [values]
 */
export const t = (template, values = {}) => fill(catalogue[template] ?? template, values, catalogue);

/** @param {import("./phrases.js").Text | null | undefined} text */
export const say = (text) => sayIn(text, catalogue);

/** @param {"en" | "zh"} chosen */
export function switchLanguage(chosen) {
  remember("language", chosen);
  const address = new URL(location.href);
  address.searchParams.delete("lang");
  location.replace(address);
}
