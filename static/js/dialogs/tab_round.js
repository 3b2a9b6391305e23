// Tab stays in a small form over the page, as it does in a dialog.

/**
 * Goes from the last stop of *element* to its first, or back.
 * @param {HTMLElement} element
 * @param {KeyboardEvent} event
 * @returns {boolean} whether it did, and the event is used up
 */
export function goesRound(element, { key, shiftKey }) {
  const stops = [...element.querySelectorAll("input, textarea, button")];
  if (key !== "Tab" || document.activeElement !== stops.at(shiftKey ? 0 : -1)) return false;
  stops.at(shiftKey ? -1 : 0).focus();
  return true;
}
