// What the shelf of results and the card of one have in common: a thumbnail, and what can be done.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { visible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { resultsApi } from "./results_api.js";

export const KINDS = {
  report: () => t("report"),
  slides: () => t("slides"),
  sheet: () => t("sheet"),
  chart: () => t("chart"),
  page: () => t("page"),
  data: () => t("data"),
  code: () => t("code"),
};
const LINES = 8; // of a text that is its own thumbnail

/**
 * Fills *place* with what is to be seen of *result*, or of a document `{session, path, title,
 * modified}`; without a look at it, it stays empty.
 */
export async function drawThumbnail(place, result, open, page = 1) {
  if (result.is_gone) return place.replaceChildren();
  const look = await resultsApi.preview(result).catch(() => null);
  if (!look) return place.replaceChildren();
  const title = t("Show {path}", { path: visible(result.path) });
  const text = say(look.text).split("\n").slice(0, LINES).join("\n");
  const shown = look.pages >= page
    ? h("img", {
        src: resultsApi.pageAddress(result, page),
        alt: visible(look.alts[page - 1] || result.title),
        loading: "lazy",
      })
    : text
      ? h("pre", { text: visible(text) })
      : h("p", { class: "muted", text: say(look.why) });
  place.replaceChildren(h("button", { type: "button", class: "result-look", title, "aria-label": title, on: { click: open } }, shown));
}

/** The buttons of *result*. @param {import("../app.js").App} app */
export function resultButtons(app, result) {
  const named = (words) => ({ class: "small", "aria-label": `${words}: ${visible(result.title)}` });
  const again = async () => {
    const text = t("Make “{title}” ({path}) again, and hand it over.", {
      title: visible(result.title),
      path: visible(result.path),
    });
    await app.attempt(() => resultsApi.regenerate(result.id, text));
  };
  return [
    !result.is_gone &&
      button({ ...named(t("Open")), on: { click: () => app.emit("open", { path: result.path }) } }, icon("eye"), t("Open")),
    !result.is_gone &&
      h(
        "a",
        { class: "button small", href: resultsApi.downloadAddress(result.id), download: "", "aria-label": `${t("Download")}: ${visible(result.title)}` },
        icon("download"),
        t("Download"),
      ),
    button({ ...named(t("Make again")), on: { click: again } }, icon("refresh"), t("Make again")),
  ].filter(Boolean);
}
