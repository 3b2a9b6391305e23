// Type-ahead: keys right after one that opens a field go into it, though its script is yet to come.

import { h } from "../lib/dom.js";

/** @typedef {{focus: () => void, write: (text: string) => void}} Editable what is written in that is no plain field */

/** Where keys go until the field is there. @type {HeldKeys | null} */
let waiting = null;

/**
 * Has *open* done once it is *loaded*; until then the keyboard is held. Escape takes it back. A focus that the person
 * moved meanwhile stays where it is, unless a dialog opens.
 *
 * Lines behind the first go where the Enter between them leads, which may have to be waited for as well. What is opened
 * while something else is waited for is opened in its stead.
 * @template T
 * @param {Promise<T>} loaded
 * @param {(module: T) => HTMLElement | Editable | undefined} open returns what is written in, which then has the focus
 */
export async function typedAhead(loaded, open) {
  const held = (waiting = new HeldKeys(waiting));
  try {
    const module = await Promise.race([loaded, held.isTakenBack]);
    // What opens may have to be waited for in its turn.
    if (waiting === held) waiting = null;
    const isHeld = held.hasFocus;
    if (isHeld) held.giveBack();
    if (!module) return;
    const field = open(module);
    if (isHeld) field?.focus();
    handOver(held.lines, field);
  } finally {
    if (waiting === held) waiting = null;
    if (held.hasFocus) held.giveBack();
    held.field.remove();
  }
}

class HeldKeys {
  /** @type {string[]} */
  #ended = [];

  /** @param {HeldKeys | null} replaced whose keys are taken over */
  constructor(replaced) {
    this.field = h("input", {
      class: "offscreen",
      "aria-hidden": "true",
      spellcheck: "false",
      on: { keydown: (event) => this.#key(event) },
    });
    this.isTakenBack = new Promise((resolve) => (this.takeBack = () => resolve(null)));
    /** @type {any} */
    this.before = replaced?.hasFocus ? replaced.before : document.activeElement;
    (this.before?.closest("dialog") ?? document.body).append(this.field);
    this.field.focus();
    if (!replaced) return;
    this.take(replaced.lines);
    replaced.takeBack();
  }

  get hasFocus() {
    return document.activeElement === this.field;
  }

  /** What was typed; each line but the last was ended by Enter. */
  get lines() {
    return [...this.#ended, this.field.value];
  }

  /** @param {string[]} lines */
  take(lines) {
    this.#ended = lines.slice(0, -1);
    this.field.value = lines.at(-1);
  }

  giveBack() {
    this.before?.focus({ preventScroll: true });
  }

  #key(event) {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.stopPropagation();
    if (event.key === "Escape") return this.takeBack();
    event.preventDefault();
    if (!event.repeat) this.take([...this.lines, ""]);
  }
}

/** @param {string[]} lines @param {any} [field] without one they go where the keys go by now */
function handOver(lines, field) {
  const text = lines.join("\n");
  if (field instanceof HTMLInputElement) {
    const [first, ...more] = lines;
    if (first) write(field, first);
    if (!more.length) return;
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    handOver(more);
  } else if (!field && waiting) waiting.take(lines);
  else if (text.trim()) field ? field.write?.(text) : insert(document.activeElement, text);
}

/** @param {any} field @param {string} text */
function insert(field, text) {
  if (field.matches("textarea, [type=search]"))
    write(field, field.value.slice(0, field.selectionStart) + text + field.value.slice(field.selectionEnd));
}

function write(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
