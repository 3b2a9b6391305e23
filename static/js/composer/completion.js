// The list above the composer that completes "/commands", what they take, and "@files".

import { h } from "../lib/dom.js";
import { visible } from "../lib/format.js";
import { ApiError, api } from "../net/api.js";
import { mention, wordAt } from "./mentions.js";
import { say, t } from "../i18n/translate.js";

const MOST = 8;

/** @typedef {{insert: string, label: string, help: string}} Choice */

export class Completion {
  #commands = null;
  #updates = 0;
  #updating = Promise.resolve();
  /** @type {Choice[]} */
  choices = [];
  chosen = 0;
  /** Whether the arrows chose, so that Enter takes an argument; else it sends the line. */
  wasMoved = false;
  place = null;

  /** @param {import("../app.js").App} app @param {HTMLTextAreaElement} area */
  constructor(app, area) {
    this.app = app;
    this.area = area;
    this.element = h("ul", {
      class: "completion",
      role: "listbox",
      id: "completion",
      "aria-label": t("Suggestions"),
      hidden: true,
    });
    area.setAttribute("aria-controls", "completion");
    area.setAttribute("aria-autocomplete", "list");
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** What stands in the place of the word now, of which a list may not have heard. */
  get written() {
    return this.area.value.slice(this.place.start, this.area.selectionStart);
  }

  /** Whether another word is written by now. */
  get isBehind() {
    return wordAt(this.area.value, this.area.selectionStart)?.start !== this.place.start;
  }

  update() {
    this.#updating = this.#update();
  }

  async #update() {
    const update = (this.#updates += 1);
    const place = wordAt(this.area.value, this.area.selectionStart);
    if (!place) return this.close();
    const choices = await this.#choicesFor(place).catch((refusal) => {
      if (!(refusal instanceof ApiError)) throw refusal;
      return []; // the next letter asks again
    });
    if (update !== this.#updates) return; // something was typed meanwhile
    if (!choices.length) return this.close();
    this.place = place;
    this.choices = choices;
    this.chosen = 0;
    this.wasMoved = false;
    this.#draw();
  }

  #choicesFor({ kind, word }) {
    if (kind === "argument") return this.#argumentChoices();
    return kind === "command" ? this.#commandChoices(word) : this.#fileChoices(word);
  }

  async #declared({ isFresh }) {
    if (!this.#commands || isFresh) this.#commands = (await api.commands()).commands;
    return this.#commands;
  }

  async #argumentChoices() {
    const line = this.area.value.slice(0, this.area.selectionStart);
    const name = line.split(" ", 1)[0];
    const declared = await this.#declared({ isFresh: false });
    if (!declared.some((one) => slashed(one.name) === name && one.completed)) return [];
    const { words } = await api.completions(await this.app.sessionIsThere(), line);
    return words.map((word) => ({ insert: `${word} `, label: visible(word), help: "" }));
  }

  async #commandChoices(word) {
    // Files may be commands, so that there may be others each time.
    const declared = await this.#declared({ isFresh: word === "/" });
    return declared
      .filter(({ name }) => slashed(name).startsWith(word))
      .slice(0, 30)
      .map(({ name, usage, help }) => ({
        insert: `${slashed(name)} `,
        label: usage || slashed(name),
        help: say(help),
      }));
  }

  async #fileChoices(word) {
    const found = await this.app.finder.find(word, MOST);
    return found.map((path) => ({ insert: mention(path), label: visible(path), help: "" }));
  }

  close() {
    this.#updates += 1;
    this.element.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  #draw() {
    const first = Math.max(0, Math.min(this.chosen - MOST + 2, this.choices.length - MOST));
    const shown = this.choices.slice(first, first + MOST);
    this.element.replaceChildren(...shown.map((choice, index) => this.#option(choice, first + index)));
    this.element.hidden = false;
    this.area.setAttribute("aria-activedescendant", `choice-${this.chosen}`);
  }

  #option(choice, index) {
    return h(
      "li",
      {
        role: "option",
        id: `choice-${index}`,
        "aria-selected": String(index === this.chosen),
        "aria-posinset": index + 1,
        "aria-setsize": this.choices.length,
        on: {
          mousedown: (event) => {
            event.preventDefault();
            this.take(choice);
          },
        },
      },
      h("code", { text: choice.label }),
      choice.help && h("span", { class: "muted", text: choice.help }),
    );
  }

  move(by) {
    this.wasMoved = true;
    this.chosen = (this.chosen + by + this.choices.length) % this.choices.length;
    this.#draw();
  }

  /** Puts in the word's place what is chosen for it as it is now. @param {Choice} [choice] another one */
  async take(choice) {
    await this.#updating;
    if (!this.isOpen) return;
    const { insert } = choice ?? this.choices[this.chosen];
    const end = this.area.selectionStart;
    this.area.setRangeText(insert, this.place.start, end, "end");
    this.close();
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

const slashed = (name) => (name.startsWith("/") ? name : `/${name}`);
