// What the model read in one step: each part by its source, and what of it the cache had.

import { h } from "../lib/dom.js";
import { count, legible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";

/** The classes of sources whose own names mean something else on the page. */
const COLOURS = { person: "from-person", model: "from-model" };

/** @param {import("./cards.js").Card} card */
export function promptCard(card) {
  return h(
    "div",
    { class: "card-prompt" },
    h("p", { class: "prompt-title", text: say(card.title) }),
    h(
      "dl",
      { class: "facts" },
      ...card.facts.flatMap(([label, text]) => [h("dt", { text: say(label) }), h("dd", { text: say(text) })]),
    ),
    ...card.parts.map((part) => partView(part, card.is_folded)),
  );
}

function partView(part, isFolded) {
  const letters = [...part.text]; // the server counts no surrogates
  const isCached = part.change !== "gone" && part.cached >= letters.length;
  return h(
    "details",
    { class: `prompt-part ${part.change}`, open: !(isFolded && isCached) },
    h(
      "summary",
      {},
      h("span", { class: `swatch ${COLOURS[part.source] ?? part.source}` }),
      h("b", { text: say(part.label) }),
      h("span", { class: "muted", text: t("{n:,} tokens", { n: count(part.tokens) }) }),
      h("span", { class: `cache ${isCached ? "hit" : "miss"}`, text: cacheWords(part, letters.length) }),
      part.change === "new" && h("span", { class: "mark-new", text: t("new in this step") }),
    ),
    h(
      "pre",
      { tabIndex: 0, role: "group", "aria-label": say(part.label) },
      h("span", { class: "hit", text: legible(letters.slice(0, part.cached).join("")) }),
      h("span", { class: "miss", text: legible(letters.slice(part.cached).join("")) }),
    ),
  );
}

function cacheWords({ change, cached }, length) {
  if (change === "gone") return t("no longer sent");
  if (cached >= length) return t("cached");
  const share = Math.floor((100 * cached) / length);
  return share ? t("{n} % cached", { n: share }) : t("not cached");
}
