// The pages of a document: one on the card of the call that made it, all of them where it is opened.

import { attribute, button, h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { stylesReady } from "../lib/styles.js";
import { visible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { mention } from "../composer/mentions.js";
import { resultsApi } from "./results_api.js";
import { drawThumbnail } from "./result_parts.js";

const SLIDES = /\.(pptx|pptm|ppsx|odp)$/i;

/**
 * Draws in *place* the *page* of the document *path*, as that is now.
 * @param {HTMLElement} place @param {string} path @param {number} page
 * @param {import("../app.js").App} app
 */
export async function drawPage(place, path, page, app) {
  await stylesReady(new URL("../../css/results.css", import.meta.url).href);
  await drawThumbnail(place, documentOf(path, app), () => app.emit("open", { path }), page);
}

/**
 * Draws in *place* all pages of the document *path*, or its text where there are none. Returns the
 * refusal of the server where nothing can be shown, else null.
 * @param {HTMLElement} place @param {string} path @param {import("../app.js").App} app
 */
export async function drawPages(place, path, app) {
  await stylesReady(new URL("../../css/results.css", import.meta.url).href);
  const shown = documentOf(path, app);
  if (!place.querySelector(".document-pages"))
    place.replaceChildren(h("p", { class: "pane-empty", role: "status", text: t("Drawing the pages …") }));
  let look;
  try {
    look = await resultsApi.preview(shown);
  } catch (refusal) {
    return refusal;
  }
  let view = views.get(place);
  if (view?.path !== path || view.element.parentNode !== place) views.set(place, (view = pagesView(path, app)));
  view.update(shown, look);
  if (view.element.parentNode !== place) place.replaceChildren(view.element);
  return null;
}

/** What shows the pages in each place: it stays when they are drawn again, for somebody may press in it just now. */
const views = new WeakMap();

function pagesView(path, app) {
  const element = h("div", { class: "document-pages", tabIndex: 0, role: "group", "aria-label": visible(path) });
  const draw = keyed(
    element,
    ({ key }) => key,
    ({ key, page }) => (page ? pageView(path, page, app) : textView(key)),
  );
  const update = (shown, { pages, alts, why, text }) => {
    const addresses = Array.from({ length: pages }, (_, at) => ({
      key: `${at + 1}`,
      page: at + 1,
      src: resultsApi.pageAddress(shown, at + 1),
      alt: visible(alts[at] || t("Page {n}", { n: at + 1 })),
    }));
    draw([
      ...(why ? [{ key: "why", text: say(why) }] : []),
      ...addresses,
      ...(text ? [{ key: "text", text: visible(text) }] : []),
    ]);
  };
  return { path, element, update };
}

function pageView(path, page, app) {
  const image = h("img", { loading: "lazy" });
  return {
    element: h("figure", {}, image, askButton(path, page, app)),
    update({ src, alt }) {
      attribute(image, "src", src);
      attribute(image, "alt", alt);
    },
  };
}

/** @param {"why" | "text"} key */
function textView(key) {
  const element = key === "why" ? h("p", { class: "muted" }) : h("pre");
  return { element, update: ({ text }) => retext(element, text) };
}

/** Begins a message about a page, as "slide 3 shorter" would be one. */
function askButton(path, n, app) {
  const isSlides = SLIDES.test(path);
  const words = isSlides ? t("Change slide {n}", { n }) : t("Ask about page {n}", { n });
  const place = isSlides ? t("slide {n}:", { n }) : t("page {n}:", { n });
  const ask = () => app.emit("draft", `${mention(path)}${place} `);
  return button({ class: "quiet tiny", on: { click: ask }, title: words, "aria-label": words }, icon("chat"), `${n}`);
}

const documentOf = (path, app) => ({ session: app.state.session, path, title: path, modified: Date.now() });
