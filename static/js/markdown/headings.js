// The levels of headings: a text of others begins below the title of the page and skips none.

/**
 * The level that fits for a heading that was written as one of the level *written*.
 * @param {number[]} above the written levels of the headings it may stand under, the outermost
 *   first; is changed to what the next heading stands under
 * @param {number} written 1 to 6
 */
export function fittingLevel(above, written) {
  while (above.length && above.at(-1) >= written) above.pop();
  above.push(written);
  return Math.min(above.length + 1, 6);
}

/**
 * Gives the headings in *fragment* the levels that fit.
 * @param {DocumentFragment} fragment
 * @param {number[]} above as in `fittingLevel`
 */
export function outlined(fragment, above) {
  for (const heading of fragment.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const level = fittingLevel(above, Number(heading.tagName[1]));
    const fitting = document.createElement(`h${level}`);
    fitting.append(...heading.childNodes);
    heading.replaceWith(fitting);
  }
  return fragment;
}
