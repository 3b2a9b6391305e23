// The tables that a run has written, on its card: the first rows of each, as they are now.

import { h } from "../lib/dom.js";
import { visible } from "../lib/format.js";
import { evened, rows } from "../editor/csv.js";
import { addTableTools } from "./table_tools.js";
import { api } from "../net/api.js";
import { t } from "../i18n/translate.js";

const MOST_ROWS = 10;
const MOST_COLUMNS = 20;

/**
 * Draws the tables of *paths* into *place*; one that is gone, or no text any more, is left out.
 * @param {HTMLElement} place
 * @param {string[]} paths
 * @param {(path: string) => void} openFile
 */
export async function drawTables(place, paths, openFile) {
  const parts = await Promise.all(paths.map((path) => api.part(path, 1).catch(() => null)));
  place.append(...paths.map((path, at) => parts[at] && table(path, parts[at], openFile)).filter(Boolean));
}

function table(path, { text, count }, openFile) {
  const [head = [], ...body] = evened(rows(text, MOST_ROWS + 2));
  if (!body.length) return null;
  const cells = (row) => row.slice(0, MOST_COLUMNS).map(visible);
  const element = h(
    "table",
    {},
    h("caption", { class: "offscreen", text: visible(path) }),
    h("thead", {}, h("tr", {}, ...cells(head).map((text) => h("th", { scope: "col", text })))),
    h(
      "tbody",
      {},
      ...body.slice(0, MOST_ROWS).map((row) => h("tr", {}, ...cells(row).map((text) => h("td", { text })))),
    ),
  );
  const frame = h("div", { class: "wide", tabIndex: 0, role: "group", "aria-label": t("Table") }, element);
  const isWhole = count === 1 && body.length <= MOST_ROWS && head.length <= MOST_COLUMNS;
  const open = h(
    "button",
    { type: "button", class: "link path", on: { click: () => openFile(path) } },
    isWhole ? visible(path) : t("{path}: the first rows; open it for all", { path: visible(path) }),
  );
  const place = h("div", { class: "run-table" }, frame, open);
  if (isWhole) addTableTools(element);
  return place;
}
