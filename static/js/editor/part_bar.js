// The bar of a file that is too large to be edited: the part that is shown, and the way to the others.

import { button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";

export class PartBar {
  number = 1;
  #count = 1;

  /** @param {(number: number) => void} turn shows another part */
  constructor(turn) {
    this.turn = turn;
    const step = (by, words) =>
      button(
        { class: "quiet tiny", title: words, "aria-label": words, on: { click: () => this.#go(this.number + by) } },
        icon("chevron", by < 0 ? "back" : ""),
      );
    this.before = step(-1, t("Previous part"));
    this.after = step(1, t("Next part"));
    this.field = h("input", {
      type: "number",
      min: 1,
      "aria-label": t("Part"),
      on: { change: () => this.#go(Number(this.field.value)) },
    });
    this.count = h("span", {});
    this.element = h(
      "div",
      { class: "part-bar" },
      h("span", { class: "muted", text: t("Too large to edit; shown in parts.") }),
      h("span", { class: "gap" }),
      this.before,
      h("span", { text: t("Part") }),
      this.field,
      this.count,
      this.after,
    );
  }

  #go(number) {
    this.turn(Math.min(Math.max(1, Math.trunc(number) || 1), this.#count));
  }

  /** @param {{number: number, count: number}} part of the server */
  draw({ number, count }) {
    this.number = number;
    this.#count = count;
    this.field.value = String(number);
    this.field.max = String(count);
    retext(this.count, t("of {count}", { count }));
    this.before.disabled = number <= 1;
    this.after.disabled = number >= count;
  }
}
