// The rows of the tree that are in sight: no others exist as elements.

import { attribute, h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { treeRow } from "./tree_row.js";

const SPARE = 8; // rows drawn beyond the edges

export class TreeRows {
  /** @type {import("./tree_model.js").Rows} */
  rows = { count: 0, at: () => null, indexOf: () => -1 };
  current = "";
  shown = "";
  glow = new Set();
  /** The row to which the keyboard went before it was known; -1: it is known. */
  #awaited = -1;

  /** @param {(folder: string, place: number) => void} need asks for what is not known yet */
  constructor(need) {
    this.need = need;
    this.canvas = h("div", { class: "tree-canvas", role: "presentation" });
    this.element = h(
      "div",
      { class: "tree", role: "tree", "aria-label": t("Files"), tabIndex: 0 },
      this.canvas,
    );
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  get height() {
    return matchMedia("(pointer: coarse)").matches ? 44 : 28;
  }

  /** The number of rows that fit in. */
  get page() {
    return Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
  }

  /** The rows from the first to the last that are drawn. */
  get inSight() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - SPARE);
    const last = Math.min(this.rows.count, Math.ceil((scrollTop + clientHeight) / this.height) + SPARE);
    return Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  }

  /** The row with the keyboard; -1 if none. */
  get currentIndex() {
    return this.#awaited < 0 ? this.rows.indexOf(this.current) : this.#awaited;
  }

  /** The row of *path*, undefined if it is none. */
  row(path) {
    const index = path ? this.rows.indexOf(path) : -1;
    return index < 0 ? undefined : this.rows.at(index);
  }

  elementOf(path) {
    return [...this.canvas.children].find((row) => row.dataset.path === path) ?? this.element;
  }

  /** @param {import("./tree_model.js").Rows} rows */
  show(rows) {
    this.rows = rows;
    if (this.#awaited >= 0 && rows.count) this.#arriveAt(Math.min(this.#awaited, rows.count - 1));
    if (rows.count && this.currentIndex < 0) this.#arriveAt(0);
    this.draw();
  }

  draw() {
    this.canvas.style.height = `${this.rows.count * this.height}px`;
    const known = new Map([...this.canvas.children].map((row) => [row.dataset.key, row]));
    const now = this.inSight.map((index) => this.#drawn(this.rows.at(index), index, known));
    for (const row of known.values()) row.remove();
    now.forEach((row, index) => {
      if (this.canvas.children[index] !== row)
        this.canvas.insertBefore(row, this.canvas.children[index] ?? null);
    });
    const current = now.find((row) => row.dataset.path === this.current);
    attribute(this.element, "aria-activedescendant", (this.current && current?.id) || null);
  }

  #drawn(row, index, known) {
    if (!row.entry) this.need(row.folder, row.place - 1);
    const looks = {
      isCurrent: row.path === this.current,
      isShown: row.path === this.shown,
      isGlowing: this.glow.has(row.path),
    };
    const key = row.path || `${row.place} ${row.folder}/`;
    const stamp = JSON.stringify([row, looks]);
    let element = known.get(key);
    known.delete(key);
    if (element?.dataset.stamp !== stamp) {
      const fresh = treeRow(row, looks);
      Object.assign(fresh.dataset, { stamp, key });
      element?.replaceWith(fresh);
      element = fresh;
    }
    element.id = `row-${index}`;
    element.style.transform = `translateY(${index * this.height}px)`;
    return element;
  }

  /** Goes to the row at *index*, or the nearest there is. */
  moveTo(index) {
    const at = Math.max(0, Math.min(this.rows.count - 1, index));
    if (!this.rows.count) return;
    const { scrollTop, clientHeight } = this.element;
    if (at * this.height < scrollTop) this.element.scrollTop = at * this.height;
    else if ((at + 1) * this.height > scrollTop + clientHeight)
      this.element.scrollTop = (at + 1) * this.height - clientHeight;
    this.#arriveAt(at);
    this.draw();
  }

  #arriveAt(index) {
    this.current = this.rows.at(index).path;
    this.#awaited = this.current ? -1 : index;
  }
}
