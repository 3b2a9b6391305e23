// Diagrams, drawn by Mermaid in a frame that shares nothing with us: it has no origin, no network
// and no way to the page but to answer. Of its answer we make a picture, in which nothing runs.

import { button, h } from "../lib/dom.js";
import { t } from "../i18n/translate.js";
import { mermaidScript } from "../lib/vendor.js";
import { enlargeable } from "./large.js";

const LONGEST = 50_000; // characters of a diagram that is still drawn
const LONGEST_WORDS = 2_000; // characters of it that are read out
const LARGEST = 4_000_000; // characters of its picture
const FRAME = () => new URL("../../frames/diagram.html", import.meta.url).href;
const PATIENCE = 20_000; // ms that one may take; then its frame goes

/** @type {Promise<Painter> | null} */
let painter = null;
/** One after another: each may be the last of its frame. @type {Promise<unknown>} */
let queue = Promise.resolve();
let number = 0;

/**
 * Draws the diagram that is the code of *figure* above it; what is no diagram stays code.
 * @param {HTMLElement} figure
 */
export function drawDiagram(figure) {
  const text = figure.querySelector("pre").textContent;
  if (!text.trim() || text.length > LONGEST) return;
  queue = queue.then(() => draw(figure, text));
}

async function draw(figure, text) {
  const { scheme } = document.documentElement.dataset;
  const isDark = /light|dark/.test(scheme) ? scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const answer = await painted(text, isDark);
  if (!answer.svg || answer.svg.length > LARGEST) {
    if (answer.problem) figure.after(reason(answer.problem));
    return;
  }
  const picture = h("img", {
    src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(answer.svg)}`,
    alt: t("Diagram: {text}", { text: text.trim().slice(0, LONGEST_WORDS) }),
    width: answer.width,
    height: answer.height,
  });
  const place = h("div", { class: `diagram ${isDark ? "on-dark" : "on-light"}` }, picture);
  enlargeable(picture);
  const source = button({ class: "quiet tiny", "aria-expanded": "false" }, t("Source code"));
  source.addEventListener("click", () => {
    figure.hidden = !figure.hidden;
    source.setAttribute("aria-expanded", String(!figure.hidden));
  });
  figure.before(h("div", { class: "drawn" }, place, source));
  figure.hidden = true;
}

/** Says why a diagram stays code: the parser's first line, without the code that it repeats. */
function reason(problem) {
  const words = t("This diagram could not be drawn: {problem}", { problem: problem.split(/:?\n/, 1)[0] });
  return h("p", { class: "muted not-drawn", text: words });
}

/** @returns {Promise<{svg?: string, width?: number, height?: number, problem?: string}>} */
async function painted(text, isDark) {
  painter ??= Painter.begin();
  try {
    const working = await painter;
    const answer = await working.paint(text, isDark);
    if (!answer.isLate) return answer;
    working.leave();
    painter = null;
    return { problem: t("The diagram took too long to draw.") };
  } catch {
    painter = null; // an exported page has none, and a connection may be down: the source stays
    return {};
  }
}

async function script() {
  const response = await fetch(mermaidScript());
  if (!response.ok) throw new Error(response.statusText);
  return response.text();
}

class Painter {
  /** @type {Map<number, (answer: any) => void>} */
  #waiting = new Map();

  /** Loads the frame, and what draws in it. Rejects where either cannot be had. */
  static async begin() {
    const made = new Painter();
    const [source] = await Promise.all([script(), made.#load()]);
    made.frame.contentWindow.postMessage({ source }, "*"); // it has no origin to be named
    return made;
  }

  constructor() {
    this.frame = h("iframe", {
      class: "painter",
      src: FRAME(),
      sandbox: "allow-scripts",
      "aria-hidden": "true",
      tabIndex: -1,
      title: "",
    });
    this.heard = (event) => this.#hear(event);
  }

  #load() {
    addEventListener("message", this.heard);
    return new Promise((resolve, reject) => {
      this.frame.addEventListener("load", resolve, { once: true });
      this.frame.addEventListener("error", reject, { once: true });
      document.body.append(this.frame);
    });
  }

  #hear({ source, data }) {
    if (source !== this.frame.contentWindow || typeof data !== "object" || data === null) return;
    const answer = this.#waiting.get(data.number);
    this.#waiting.delete(data.number);
    answer?.({
      svg: typeof data.svg === "string" ? data.svg : "",
      width: Math.max(1, Math.min(20_000, Number(data.width) || 1)),
      height: Math.max(1, Math.min(20_000, Number(data.height) || 1)),
      problem: typeof data.problem === "string" ? data.problem.slice(0, 500) : "",
    });
  }

  paint(text, isDark) {
    const mine = (number += 1);
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve({ isLate: true }), PATIENCE);
      this.#waiting.set(mine, (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      this.frame.contentWindow.postMessage({ number: mine, text, isDark }, "*");
    });
  }

  leave() {
    removeEventListener("message", this.heard);
    this.frame.remove();
  }
}
