// What a helper does, below the call that it is: one line with its state of now, and its steps for
// who unfolds them.

import { target, verb } from "../cards/verbs.js";
import { h, keyed, retext } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { visible } from "../lib/format.js";
import { apply, emptyTranscript } from "../store/reducer.js";
import { say, t } from "../i18n/translate.js";
import { shown, stable } from "./grouping.js";
import { itemView } from "./items.js";

/** @type {WeakMap<object, HelperView>} */
const VIEWS = new WeakMap();

/**
 * Draws the helper that the call of *view* is, below it.
 * @param {{element: Element, item: any, host: import("./items.js").Host}} view
 */
export function draw(view) {
  if (!VIEWS.has(view)) VIEWS.set(view, new HelperView(view));
  VIEWS.get(view).draw(view.item);
}

class HelperView {
  #applied = 0;
  #step = 0;
  #drawn = [];

  constructor({ element, item, host }) {
    this.item = item;
    this.app = host.app;
    this.transcript = emptyTranscript(`${item.key}.`);
    this.words = h("span", { class: "target" });
    const steps = h("div", { class: "helper-steps" });
    const own = { ...host, fork: undefined, resend: undefined };
    this.drawItems = keyed(
      steps,
      ({ key }) => key,
      (each) => itemView(each, own),
    );
    this.element = h("details", { class: "helper" }, h("summary", {}, this.words, icon("chevron", "turn")), steps);
    this.element.addEventListener("toggle", () => this.#drawSteps());
    element.append(this.element);
    this.leave = this.app?.subscribe(() => this.#followMarks());
  }

  #followMarks() {
    if (this.leave && !this.element.isConnected) this.leave();
    else if (this.app.state.marks !== this.marks) this.#drawSteps();
  }

  draw(item) {
    this.item = item;
    for (const event of item.helper.slice(this.#applied)) {
      this.transcript = apply(this.transcript, event);
      this.#step = event.step ?? this.#step;
    }
    this.#applied = item.helper.length;
    retext(this.words, item.state === "running" ? this.#stateWords() : this.#overWords());
    this.#drawSteps();
  }

  #drawSteps() {
    if (!this.element.open) return;
    this.marks = this.app?.state.marks;
    this.#drawn = stable(this.#drawn, shown(this.transcript.items, this.#ownMarks()));
    this.drawItems(this.#drawn);
  }

  /** The marks of its own calls: they come into the folder as calls of that id behind its own. */
  #ownMarks() {
    const { marks = [], transcript } = this.app?.state ?? {};
    let turn = 0;
    for (const { kind, key, turn: number } of transcript?.items ?? []) {
      if (kind === "person") turn = number;
      if (key === this.item.key) break;
    }
    const prefix = `${this.item.id}/`;
    const own = marks.filter((mark) => mark.turn === turn && mark.call_id.startsWith(prefix));
    return own.map((mark) => ({ ...mark, turn: 0, call_id: mark.call_id.slice(prefix.length) }));
  }

  /** What it does now. */
  #stateWords() {
    return `${t("step {n}", { n: this.#step })} · ${this.#doing()}`;
  }

  #doing() {
    if (this.item.question) return t("waiting for you");
    const last = this.transcript.items.at(-1);
    if (last?.kind === "waiting") return say(last.why);
    if (last?.kind !== "call" || last.state !== "running") return t("Working…");
    return `${verb(last.name)} ${visible(target(last.name, last.arguments))}`;
  }

  #overWords() {
    const calls = this.transcript.items.filter(({ kind }) => kind === "call").length;
    return calls === 1 ? t("1 tool call") : t("{n:,} tool calls", { n: calls });
  }
}
