// A chart of bars, one for each label, in parts that stand on each other. Plain SVG; its numbers are
// told by its words, too.

import { h } from "../lib/dom.js";
import { visible } from "../lib/format.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 120;
const STEP = 36; // from one bar to the next
const WIDTH = 24; // of a bar
const LONGEST = 60; // bars that are drawn: the newest
const SHORT = 24; // characters of a label below a bar

/**
 * @param {{title: string, labels: string[], parts: [string, number[]][], words: (value: number) => string, most?: number}} chart
 *   *parts*: the name of each and its values, as many as there are labels; *most*: that a whole bar
 *   stands for, the largest unless it is said
 */
export function barChart({ title, labels, parts, words, most = 0 }) {
  const start = Math.max(0, labels.length - LONGEST);
  const sums = labels.map((_, at) => parts.reduce((sum, [, values]) => sum + values[at], 0));
  const whole = most || Math.max(...sums.slice(start)) || 1;
  const told = labels.slice(start).map((label, at) => `${visible(label)}: ${words(sums[start + at])}`);
  const svg = make("svg", {
    width: STEP * told.length,
    height: HEIGHT,
    role: "img",
    "aria-label": `${title}. ${told.join("; ")}`,
  });
  told.forEach((line, column) => {
    let bottom = HEIGHT;
    const group = make("g", {});
    group.append(make("title", {}, line));
    parts.forEach(([, values], number) => {
      const height = (values[start + column] / whole) * (HEIGHT - 4);
      bottom -= height;
      const x = column * STEP + (STEP - WIDTH) / 2;
      group.append(make("rect", { class: `part-${number}`, x, y: bottom, width: WIDTH, height }));
    });
    svg.append(group);
  });
  const legend = parts.map(([name], number) => h("li", {}, h("span", { class: `swatch part-${number}` }), name));
  const first = visible(labels[start]).slice(0, SHORT);
  const last = visible(labels.at(-1)).slice(0, SHORT);
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, h("b", { text: title }), h("span", { class: "muted", text: words(whole) })),
    h("div", { class: "chart-bars", tabIndex: 0, role: "group", "aria-label": title }, svg),
    h("p", { class: "chart-ends muted", text: labels.length > 1 ? `${first} – ${last}` : first }),
    parts.length > 1 ? h("ul", { class: "legend" }, ...legend) : null,
  );
}

function make(tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.textContent = text;
  return element;
}
