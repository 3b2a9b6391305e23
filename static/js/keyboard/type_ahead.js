// Type-ahead: keys right after one that opens a field go into it, though its script is yet to come.

import { h } from "../lib/dom.js";

let isWaiting = false;

/**
 * Has *open* done once it is *loaded*; until then the keyboard is held. Escape takes it back. A focus that the person
 * moved meanwhile stays where it is, unless a dialog opens.
 * @template T
 * @param {Promise<T>} loaded
 * @param {(module: T) => HTMLInputElement | undefined} open returns the field that is written in, which then has the focus
 */
export async function typedAhead(loaded, open) {
  if (isWaiting) return;
  isWaiting = true;
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const held = h("input", { class: "offscreen", "aria-hidden": "true", spellcheck: "false" });
  /** @type {string[]} */
  const keys = [];
  let takeBack;
  const isTakenBack = new Promise((resolve) => (takeBack = resolve));
  held.addEventListener("keydown", (event) => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    keys.push(event.key);
    if (event.key === "Escape") takeBack(null);
  });
  document.body.append(held);
  held.focus();
  try {
    const module = await Promise.race([loaded, isTakenBack]);
    const isHeld = document.activeElement === held;
    if (isHeld) before?.focus({ preventScroll: true }); // where it goes back to
    const field = module && open(module);
    if (isHeld) field?.focus();
    handOver(held.value, keys, field);
  } finally {
    if (document.activeElement === held) before?.focus({ preventScroll: true });
    held.remove();
    isWaiting = false;
  }
}

/** @param {string} text @param {string[]} keys @param {HTMLInputElement | undefined} field */
function handOver(text, keys, field) {
  if (!field) return;
  if (text) {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (keys.length) field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}
