// A line between columns that is dragged, or moved by the arrow keys.

import { remember, remembered } from "../lib/storage.js";

/**
 * Lets *bar* be moved; *direction* is 1 where what is before it grows to the right.
 * @param {HTMLElement} bar
 */
export function splitter(bar, label, property, least, most, direction) {
  const root = document.documentElement;
  let width = Number(remembered(property)) || 0;
  const said = { role: "separator", "aria-label": label, "aria-orientation": "vertical" };
  for (const [name, value] of Object.entries({ ...said, "aria-valuemin": least, "aria-valuemax": most }))
    bar.setAttribute(name, String(value));
  bar.tabIndex = 0;
  const set = (wanted) => {
    width = Math.round(Math.max(least, Math.min(most, wanted, innerWidth * 0.6)));
    root.style.setProperty(property, `${width}px`);
    bar.setAttribute("aria-valuenow", String(width));
  };
  const now = () =>
    width ||
    Math.round(
      (direction > 0 ? bar.previousElementSibling : bar.nextElementSibling).getBoundingClientRect().width,
    );
  if (width) set(width);
  else bar.setAttribute("aria-valuenow", String(least));
  bar.addEventListener("pointerdown", (event) => {
    const start = { x: event.clientX, width: now() };
    bar.setPointerCapture(event.pointerId);
    const move = (moved) => set(start.width + direction * (moved.clientX - start.x));
    bar.addEventListener("pointermove", move);
    bar.addEventListener(
      "pointerup",
      () => {
        bar.removeEventListener("pointermove", move);
        remember(property, String(width));
      },
      { once: true },
    );
  });
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 16, ArrowLeft: -16 }[event.key];
    if (!by) return;
    event.preventDefault();
    set(now() + direction * by);
    remember(property, String(width));
  });
  bar.addEventListener("dblclick", () => {
    width = 0;
    root.style.removeProperty(property);
    remember(property, null);
  });
}
