// A unified diff: line numbers, colours, the changed words; long ones fold in the middle.

import { button, h } from "../lib/dom.js";
import { diffRows, sideBySide, withWords } from "./diff_rows.js";
import { loadDiff } from "../lib/vendor.js";
import { visible } from "../lib/format.js";
import { t } from "../i18n/translate.js";

const SHOWN = 30; // rows of a long diff that are shown before it is unfolded
const LONGEST = 5000;

/**
 * @param {string} diff
 * @param {{path?: string, isWhole?: boolean, isSplit?: boolean}} [options] *isSplit*: in two columns
 */
export function diffView(diff, { path = "", isWhole = false, isSplit = false } = {}) {
  const rows = diffRows(diff).filter((row, index) => row.kind !== "hunk" || index > 0);
  const frame = h("div", {
    class: isSplit ? "diff split" : "diff",
    role: "group",
    tabIndex: 0,
    "aria-label": t("Changes in {path}", { path: visible(path) }),
  });
  const draw = (marked, most) =>
    frame.replaceChildren(
      (isSplit ? splitTable : table)(marked.slice(0, most)),
      ...(marked.length > most ? [more(marked.length - most, () => draw(marked, LONGEST))] : []),
    );
  const most = isWhole ? LONGEST : rows.length > SHOWN + 6 ? SHOWN : rows.length;
  draw(rows, most);
  if (rows.length < LONGEST)
    addWords(rows, (marked) => draw(marked, frame.querySelector(".more") ? most : LONGEST));
  return frame;
}

async function addWords(rows, draw) {
  if (!rows.some((row, index) => row.kind === "added" && rows[index - 1]?.kind === "removed")) return;
  const { diffWordsWithSpace } = await loadDiff();
  draw(withWords(rows, diffWordsWithSpace));
}

function more(count, unfold) {
  return button({ class: "more", on: { click: unfold } }, t("Show {n:,} more lines", { n: count }));
}

const SIGNS = { added: "+", removed: "−", same: "", hunk: "", meta: "" };

function table(rows) {
  return h("table", {}, h("tbody", {}, ...rows.map((row) => (row.kind === "hunk" ? hunk(row) : line(row)))));
}

function hunk(row, width = 3) {
  return h("tr", { class: "hunk" }, h("td", { colspan: width }, "⋯ ", row.text));
}

function splitTable(rows) {
  const pair = ({ left, right }) =>
    left?.kind === "hunk"
      ? hunk(left, 4)
      : h("tr", {}, ...side(left, left?.old), ...side(right, right?.new));
  return h("table", {}, h("tbody", {}, ...sideBySide(rows).map(pair)));
}

function side(row, number) {
  const kind = row?.kind ?? "none";
  return [
    h("td", { class: `line-number ${kind}`, text: number || "" }),
    h("td", { class: `text ${kind}` }, ...(row ? words(row) : [])),
  ];
}

function words(row) {
  if (row.kind === "meta") return [t("No newline at end of file")]; // the one remark that a diff makes
  const drawn = (piece) => (piece.marked ? h("mark", { text: visible(piece.text) }) : visible(piece.text));
  return row.pieces ? row.pieces.map(drawn) : [visible(row.text)];
}

function line(row) {
  return h(
    "tr",
    { class: row.kind },
    h("td", { class: "line-number", text: row.new || row.old || "" }),
    h("td", { class: "sign", text: SIGNS[row.kind] }),
    h("td", { class: "text" }, ...words(row)),
  );
}
