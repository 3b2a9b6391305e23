// A block of code with its language and a button that copies it.

import { button, h } from "../lib/dom.js";
import { visible } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { colour } from "./markdown.js";
import { t } from "../i18n/translate.js";

/**
 * @param {string} text
 * @param {string} language
 * @param {{node?: Text, title?: string, copied?: string}} [options] *node*: where code that is still
 *   coming goes; *copied*: what the button copies where *text* is not all
 */
export function codeBlock(text, language, { node, title = "", copied = text } = {}) {
  const code = h("code", {}, node ?? visible(text));
  if (!node && language) colour(code, language);
  const copy = copyButton(() => (node ? node.data : copied));
  return h(
    "figure",
    { class: "code", data: { language } },
    h("figcaption", {}, h("span", { text: title || language || t("text") }), copy),
    h("pre", { tabIndex: 0, "aria-label": t("Code") }, code),
  );
}

/** @param {() => string} textOf @param {string} [words] that say what is copied */
export function copyButton(textOf, words = t("Copy")) {
  const copy = button({ class: "quiet tiny", title: words, "aria-label": words }, icon("copy"));
  copy.addEventListener("click", async () => {
    const isCopied = await navigator.clipboard.writeText(textOf()).then(
      () => true,
      () => fallbackCopy(textOf()),
    );
    copy.firstChild.replaceWith(icon(isCopied ? "check" : "alert"));
    setTimeout(() => copy.firstChild.replaceWith(icon("copy")), 1500);
  });
  return copy;
}

/** For pages that are not served over a secure origin. */
function fallbackCopy(text) {
  const area = h("textarea", { value: text, class: "offstage", "aria-hidden": "true" });
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}
