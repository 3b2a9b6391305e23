// Formulas, drawn by KaTeX: as what a browser lays out, and as MathML for who listens.

import { h } from "../lib/dom.js";
import { stylesReady } from "../lib/styles.js";
import { katexStyles, loadKatex } from "../lib/vendor.js";

const LONGEST = 10_000; // characters of a formula that is still drawn
const LARGEST = 50; // em that a formula may ask for
const MOST_EXPANSIONS = 500; // of macros, so that none goes on for ever

let loading;

/** Fetches KaTeX and its styles, once; asks again after a failure. */
function katexReady() {
  loading ??= Promise.all([loadKatex(), stylesReady(katexStyles())]).then(
    ([{ default: katex }]) => katex,
    () => (loading = null), // an exported page has none
  );
  return loading;
}

/**
 * Draws the formulas whose TeX is the text of *elements* in their place. One that is no TeX, and
 * each where KaTeX cannot be had, stays as it was written.
 * @param {HTMLElement[]} elements
 */
export async function drawFormulas(elements) {
  const katex = await katexReady();
  if (katex) for (const element of elements) draw(katex, element);
}

function draw(katex, element) {
  const source = element.tagName === "FIGURE" ? element.querySelector("pre") : element;
  const tex = source.textContent.trim();
  const isDisplayed = !element.classList.contains("formula");
  if (!tex || tex.length > LONGEST) return;
  const place = h("span", { class: isDisplayed ? "math displayed" : "math" });
  if (isDisplayed) place.tabIndex = 0; // it may be wider than the page
  try {
    katex.render(tex, place, {
      displayMode: isDisplayed,
      trust: false,
      errorColor: "currentColor",
      strict: "ignore",
      maxSize: LARGEST,
      maxExpand: MOST_EXPANSIONS,
    });
  } catch (error) {
    if (!(error instanceof katex.ParseError || error instanceof RangeError)) throw error;
    element.title = error.message;
    return;
  }
  element.replaceWith(place);
}
