// The button that takes back what a call or a turn did to files, and brings it again.

import { attribute, button, h, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";

export class UndoButton {
  #undoable = null;

  /** @param {"call" | "turn"} what @param {{undo?: (what: string, number: number, again: boolean) => Promise<any>}} host */
  constructor(what, host) {
    this.state = h("span", { class: "undone", hidden: true, text: t("undone") });
    this.words = h("span", {});
    this.button = button(
      { class: "quiet tiny", on: { click: () => this.#press(what, host) } },
      icon("undo"),
      this.words,
    );
    this.element = h("span", { class: "undoing", hidden: true }, this.state, this.button);
    this.isOffered = Boolean(host.undo);
    this.isTurn = what === "turn";
  }

  /** @param {import("../conversation/grouping.js").Undoable | undefined} undoable @param {string} subject */
  update(undoable, subject) {
    if (undoable === this.#undoable) return;
    this.#undoable = undoable;
    this.element.hidden = !undoable || !this.isOffered;
    if (!undoable) return;
    this.state.hidden = !undoable.undone;
    const [words, label] = undoable.undone
      ? [this.isTurn ? t("Redo turn") : t("Redo"), t("Redo: {what}", { what: subject })]
      : [this.isTurn ? t("Undo turn") : t("Undo"), t("Undo: {what}", { what: subject })];
    this.button.replaceChildren(icon(undoable.undone ? "redo" : "undo"), this.words);
    retext(this.words, words);
    attribute(this.button, "aria-label", label);
    attribute(
      this.button,
      "title",
      undoable.undone ? t("Redo these file changes") : t("Undo these file changes"),
    );
  }

  async #press(what, host) {
    const { number, undone } = this.#undoable;
    this.button.disabled = true;
    await host.undo(what, number, undone);
    this.button.disabled = false;
    if (document.activeElement === document.body) this.button.focus(); // or somebody went on elsewhere
  }
}
