// Keeps a foreign page in a frame from taking the keyboard: what one types for us is not for it.

import { h } from "../lib/dom.js";

const HAS_MOUSE = matchMedia("(hover: hover)");
/** How often the frame may try within so many milliseconds. */
const MOST = 5;
const WITHIN = 3000;

/**
 * Gives the focus back to where it was when a frame takes it unasked: neither by a press on it nor
 * by the Tab key. Where there is no mouse that cannot be told, and nothing is done.
 *
 * Of a press on a foreign page we learn nothing, but that the pointer is there. While one types, a
 * shield lies over it, which goes when the pointer moves: so a pointer that only rests there counts
 * for nothing.
 * @param {() => HTMLIFrameElement | null} frameOf
 * @param {() => void} onInsisted called when it takes the focus again and again
 * @returns {{shield: HTMLElement, leave: () => void}}
 */
export function guardFocus(frameOf, onInsisted) {
  let last = document.activeElement;
  let isByTab = false;
  /** When it tried lately. @type {number[]} */
  let tries = [];
  const unshield = () => (shield.hidden = true);
  const on = { pointermove: unshield, pointerdown: unshield, wheel: unshield };
  const shield = h("div", { class: "preview-shield", hidden: true, on });
  const listeners = {
    focusin: ({ target }) => {
      if (target !== frameOf()) last = target;
    },
    keydown: ({ key }) => {
      isByTab = key === "Tab";
      shield.hidden = !HAS_MOUSE.matches;
    },
    pointerdown: () => (isByTab = false),
  };
  const giveBack = () => {
    const frame = frameOf();
    if (!frame || !HAS_MOUSE.matches || !isInFrame(frame)) return;
    if (isByTab || frame.matches(":hover")) return;
    const now = performance.now();
    tries = [...tries.filter((then) => now - then < WITHIN), now];
    if (tries.length === MOST) onInsisted();
    document.activeElement?.blur(); // what counts as focused already would not take it back
    if (last?.isConnected && last !== document.body) last.focus({ preventScroll: true });
    else window.focus();
  };
  for (const [event, listener] of Object.entries(listeners))
    document.addEventListener(event, listener, true);
  const onBlur = () => setTimeout(giveBack); // by then the browser knows itself who has it
  addEventListener("blur", onBlur);
  const leave = () => {
    for (const [event, listener] of Object.entries(listeners))
      document.removeEventListener(event, listener, true);
    removeEventListener("blur", onBlur);
  };
  return { shield, leave };
}

/**
 * Whether the keyboard is in *frame*, as far as can be told when our window has just lost it: the
 * document still has the focus then, and its active element may be the frame or what it was before.
 */
function isInFrame(frame) {
  const { activeElement } = document;
  return document.hasFocus() && (activeElement === frame || activeElement?.tagName !== "IFRAME");
}
