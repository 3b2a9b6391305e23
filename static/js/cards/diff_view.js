// A unified diff: line numbers, colours, the changed words; long ones fold in the middle.

import { button, h } from "../lib/dom.js";
import { coloured, syntaxOf } from "../markdown/markdown.js";
import { cutTokens, diffRows, sideBySide, withTokens, withWords } from "./diff_rows.js";
import { loadDiff } from "../lib/vendor.js";
import { nameOf, visible } from "../lib/format.js";
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
    refine(rows, path, (marked) => draw(marked, frame.querySelector(".more") ? most : LONGEST));
  return frame;
}

/** Marks the words that changed, then colours the lines in the syntax of *path*. */
async function refine(rows, path, draw) {
  let refined = rows;
  if (rows.some((row, index) => row.kind === "added" && rows[index - 1]?.kind === "removed")) {
    const { diffWordsWithSpace } = await loadDiff();
    refined = withWords(rows, diffWordsWithSpace);
    draw(refined);
  }
  const name = nameOf(path);
  const syntax = syntaxOf(name) || syntaxOf(name.slice(name.lastIndexOf(".") + 1));
  if (syntax) draw(await withTokens(refined, (text) => tokensOf(text, syntax)));
}

/** @returns {Promise<import("./diff_rows.js").Token[] | null>} */
async function tokensOf(text, syntax) {
  const drawn = await coloured(text, syntax);
  return drawn && [...drawn.childNodes].flatMap((node) => tokensIn(node, ""));
}

function tokensIn(node, classes) {
  if (!(node instanceof Element)) return [{ text: node.textContent ?? "", classes }];
  return [...node.childNodes].flatMap((child) => tokensIn(child, node.className));
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
  /** @type {Map<number, any>} a mark for each piece, whatever its colours */
  const marks = new Map();
  return cutTokens(row).map(({ text, classes, marked, piece }) => {
    const shown = classes ? h("span", { class: classes, text: visible(text) }) : visible(text);
    if (!marked) return shown;
    const mark = marks.get(piece);
    if (mark) mark.append(shown);
    else marks.set(piece, h("mark", {}, shown));
    return mark ? "" : marks.get(piece);
  });
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
