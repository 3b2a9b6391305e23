// The card of a call that handed a file over: with a thumbnail and what can be done, as it is now.

import { h } from "../lib/dom.js";
import { stylesReady } from "../lib/styles.js";
import { size, visible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { resultsApi } from "./results_api.js";
import { KINDS, drawThumbnail, resultButtons } from "./result_parts.js";

/**
 * Draws in *place* what *card* handed over, and how that is now. Without a server, as in an export,
 * all that there is of it is words.
 * @param {HTMLElement} place
 * @param {{path: string, title: string, number: number, size: number, facts: any, result: string}} card
 * @param {{app?: import("../app.js").App}} host
 */
export function drawResult(place, card, { app }) {
  const facts = [KINDS[card.result]?.() ?? card.result, visible(card.path), size(card.size), say(card.facts)];
  place.className = "card-result";
  place.append(
    h("b", { text: visible(card.title) }),
    h("p", { class: "muted", text: facts.filter(Boolean).join(" · ") }),
  );
  if (app) void drawNow(place, card, app);
}

async function drawNow(place, card, app) {
  const look = h("div", { class: "result-thumbnail" });
  const buttons = h("div", { class: "buttons" });
  place.prepend(look);
  place.append(buttons);
  await stylesReady(new URL("../../css/results.css", import.meta.url).href);
  const session = app.state.session;
  let before = "";
  const draw = async () => {
    if (!place.isConnected || app.state.session !== session) return;
    const result = await resultsApi.one(`${session}.${card.number}`).catch(() => null);
    const now = JSON.stringify(result);
    if (now === before) return;
    before = now;
    const isSame = result && [result.path, ...result.former_paths].includes(card.path);
    place.classList.toggle("gone", !isSame || result.is_gone);
    place.title = isSame && !result.is_gone ? "" : t("The file is gone.");
    buttons.replaceChildren(...(isSame ? resultButtons(app, result) : []));
    if (isSame) await drawThumbnail(look, result, () => app.emit("open", { path: result.path }));
    else look.replaceChildren();
  };
  app.on("files", draw);
  requestAnimationFrame(draw);
}
