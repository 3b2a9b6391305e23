// Who wrote which line of an open file: marks beside the lines, and a card for the one with the cursor.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";
import { loadMerge } from "../lib/vendor.js";
import { api } from "../net/api.js";
import { originsCard, who } from "../cards/origins.js";
import { linesOf } from "./merge.js";

/** @typedef {import("../cards/origins.js").Origins} Origins */

export class WhyPanel {
  #asked = 0;
  /** @type {Origins | null} */
  #card = null;

  /**
   * @param {import("../app.js").App} app
   * @param {string} path
   * @param {() => void} close
   */
  constructor(app, path, close) {
    this.app = app;
    this.path = path;
    const words = t("Close");
    this.shown = h("div", { class: "shown" });
    this.element = h(
      "aside",
      { class: "why-panel", "aria-label": t("Who wrote this line"), "aria-live": "polite" },
      this.shown,
      button({ class: "quiet tiny", title: words, "aria-label": words, on: { click: close } }, icon("close")),
    );
  }

  /**
   * Marks the lines of *editor* that are as on the disk.
   * @param {() => string} onDisk what is known of that
   */
  async mark(editor, onDisk) {
    this.#asked += 1;
    const asked = this.#asked;
    const answer = await this.app.attempt(() => api.why(this.path));
    const { diffIndices } = answer && editor.text !== onDisk() ? await loadMerge() : {};
    if (!answer || asked !== this.#asked) return;
    const places = diffIndices && linesOf(onDisk(), editor.text, diffIndices);
    this.#card = answer.card;
    editor.showOrigins(
      answer.card.origins.map((origin) => ({ ...origin, title: who(origin), ranges: placed(origin.ranges, places) })),
    );
    this.tell(editor.originHere);
  }

  /** Marks nothing any more, whatever was asked before. */
  leave() {
    this.#asked += 1;
    this.element.remove();
  }

  /** Shows the origin of the line with the cursor. @param {{line: number, index: number | null}} here */
  tell({ line, index }) {
    if (!this.#card) return;
    const origin = index === null ? null : this.#card.origins[index];
    if (!origin) {
      const words = this.#card.origins.length ? t("This line is not saved yet.") : this.#card.note;
      this.shown.replaceChildren(h("p", { class: "muted", text: words || t("This line is not saved yet.") }));
      return;
    }
    const card = { ...this.#card, path: "", start: line, end: line, line: "", note: "", origins: [origin] };
    this.shown.replaceChildren(originsCard(card, { openFile: () => {} }));
  }
}

/** Returns *ranges* of lines as they are at their *places*, each line by itself; as they are without. */
function placed(ranges, places) {
  if (!places) return ranges;
  const lines = ranges.flatMap(([from, to]) => places.slice(from - 1, to)).filter(Boolean);
  return lines.map((line) => [line, line]);
}
