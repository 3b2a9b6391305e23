// Building and keeping DOM nodes. Text only ever becomes text: nothing here parses markup, and no
// character of it changes the order of those beside it.

import { legible } from "./format.js";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Makes an element. In *props*, `class` and `text` mean what they say, `on` maps events to
 * listeners, `data` fills the dataset, a property the element has is set, the rest are attributes;
 * null, undefined and false leave an attribute out.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(element, name, value);
  element.append(...children.flat().filter(isShown).map(asNode));
  return element;
}

/** @param {Child} child */
const isShown = (child) => child !== null && child !== undefined && child !== false && child !== "";

/** @param {any} child */
const asNode = (child) => (child instanceof Node ? child : legible(String(child)));

const PROPERTIES = new Set([
  "value",
  "checked",
  "disabled",
  "hidden",
  "tabIndex",
  "open",
  "draggable",
  "readOnly",
]);

/** Attributes that people read. */
const WORDS = new Set(["title", "aria-label", "alt", "placeholder"]);

/**
 * @param {any} element
 * @param {string} name
 * @param {any} value
 */
function set(element, name, value) {
  if (name === "class") element.className = value || "";
  else if (name === "text") element.textContent = legible(String(value ?? ""));
  else if (name === "on")
    Object.entries(value).forEach(([event, listener]) => element.addEventListener(event, listener));
  else if (name === "data") Object.assign(element.dataset, value);
  else if (PROPERTIES.has(name)) element[name] = value;
  else if (value === true) element.setAttribute(name, "");
  else if (WORDS.has(name) && typeof value === "string") element.setAttribute(name, legible(value));
  else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
}

/**
 * Sets an attribute only when it is another, so that nothing is announced or laid out for nought.
 * @param {Element} element
 * @param {string} name
 * @param {string | null} value null removes it
 */
export function attribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * Sets the text only when it is another.
 * @param {Element} element
 * @param {string} text
 */
export function retext(element, text) {
  const shown = legible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/**
 * A list of views in *container* that follows a list of values: views of keys that stay are kept,
 * with the focus in them.
 * @template T
 * @param {Element} container
 * @param {(value: T) => string} keyOf
 * @param {(value: T) => {element: Element, update?: (value: T) => void, leave?: () => void}} make
 * @returns {(values: T[]) => void}
 */
export function keyed(container, keyOf, make) {
  /** @type {Map<string, {value: T, view: any}>} */
  let kept = new Map();
  return (values) => {
    const focused = document.activeElement;
    const keys = new Set(values.map(keyOf));
    for (const [key, { view }] of kept) {
      if (keys.has(key)) continue;
      view.leave?.();
      view.element.remove(); // first: nothing need be moved to its place
    }
    const now = new Map();
    let place = container.firstChild;
    for (const value of values) {
      const key = keyOf(value);
      const known = kept.get(key) ?? { value: undefined, view: make(value) };
      if (known.value !== value) known.view.update?.(value);
      now.set(key, { value, view: known.view });
      if (known.view.element === place) place = place.nextSibling;
      else move(container, known.view.element, place);
    }
    kept = now;
    // What was moved to another place has lost it.
    if (focused !== document.activeElement && container.contains(focused)) focused.focus({ preventScroll: true });
  };
}

/** Puts *element* before *place*; where the browser can, a frame in it goes on as it is. */
export function move(container, element, place) {
  if (container.moveBefore && container.isConnected && element.parentNode === container) container.moveBefore(element, place);
  else container.insertBefore(element, place);
}

/**
 * Watches where the focus goes from now on.
 * @returns {() => boolean} whether nobody went on elsewhere since, nor there and back
 */
export function watchFocus() {
  let isUnmoved = true;
  document.addEventListener("focusin", () => (isUnmoved = false), { once: true, capture: true });
  return () => isUnmoved;
}

/** A button with an icon or words. @returns {HTMLButtonElement} */
export function button(props, ...children) {
  return h("button", { type: "button", ...props }, ...children);
}
