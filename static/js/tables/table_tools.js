// Tables that sort by a column when its head is pressed, and copy as comma separated values.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";
import { copyButton } from "../markdown/code_block.js";
import { csv, decimalMark, numberOf } from "./table_values.js";

const LEAST = 2; // rows that can stand in another order

/**
 * Gives *table*, which stands in a frame of its own, a button that copies it and heads that sort it.
 * @param {HTMLTableElement} table
 */
export function addTableTools(table) {
  const body = table.tBodies[0];
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  if (!body || !heads.length) return;
  // As written, before the heads become buttons.
  const copy = copyButton(() => csv(rowsOf(table)), t("Copy as CSV"));
  copy.append(h("span", { text: "CSV" }));
  const frame = table.parentElement;
  const whole = h("div", { class: "table-tools" });
  frame.replaceWith(whole);
  whole.append(frame, copy);
  if (body.rows.length >= LEAST) makeSortable(body, heads);
}

/** @param {HTMLTableSectionElement} body @param {HTMLTableCellElement[]} heads */
function makeSortable(body, heads) {
  const written = [...body.rows];
  const states = ["none", "ascending", "descending"];
  heads.forEach((head, column) => {
    if (head.querySelector("a, button, input")) return;
    const sort = () => {
      const state = states[(states.indexOf(head.getAttribute("aria-sort") ?? "none") + 1) % states.length];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (state !== "none") head.setAttribute("aria-sort", state);
      body.append(...(state === "none" ? written : sorted(written, column, state === "descending")));
    };
    const press = button({ class: "sort", title: t("Sort by this column"), on: { click: sort } });
    press.append(...head.childNodes, icon("down"));
    head.append(press);
  });
}

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** *rows* by their cells in *column*: numbers by their value, before words; empty ones last. */
function sorted(rows, column, isDescending) {
  const keys = new Map(rows.map((row) => [row, (row.cells[column]?.textContent ?? "").trim()]));
  const mark = decimalMark([...keys.values()]);
  return rows.toSorted((one, other) => {
    const [left, right] = [keys.get(one), keys.get(other)];
    if (!left || !right) return Number(!left) - Number(!right);
    const difference = compared(left, right, mark);
    return isDescending ? -difference : difference;
  });
}

function compared(left, right, mark) {
  const [one, other] = [left, right].map((text) => numberOf(text, mark) ?? numberOf(text));
  if (one !== null && other !== null) return one - other;
  if (one !== null || other !== null) return one !== null ? -1 : 1;
  return order.compare(left, right);
}

const rowsOf = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
