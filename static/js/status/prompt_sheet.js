// The glass prompt: what the model read in each step, what the cache had of it, and why not more.

import { button, h } from "../lib/dom.js";
import { say, t } from "../i18n/translate.js";
import { drawCard } from "../cards/cards.js";
import { lineOf } from "../store/declared.js";
import { openDialog } from "../dialogs/dialog.js";

/** @param {import("../app.js").App} app */
export async function openPromptSheet(app) {
  const first = await app.aside(lineOf("context"));
  if (!first?.done) return;
  const rows = first.card.rows;
  const list = h("ol", { class: "prompt-steps" }, ...rows.slice(0, -1).map(row));
  const [, label, ...totals] = rows.at(-1).map(say);
  const total = h("p", { class: "muted" }, `${label}: ${figures(totals)}`);
  const shown = h("div", { class: "prompt-shown" });
  let asked = 0;
  openDialog(t("What the model read"), "sheet prompt-sheet", [total, list, shown]);

  function row(cells) {
    const [number, task, ...rest] = cells.map(say);
    const [sent, hit] = rest.map(numberIn);
    const share = sent ? (100 * hit) / sent : 0;
    const bar = h("span", { class: "cache-bar" }, h("span", { class: "hit" }));
    bar.firstChild.style.width = `${share}%`;
    const choose = button(
      {
        class: "quiet",
        "aria-pressed": "false",
        "aria-label": t("Show step {n}", { n: number }),
        on: { click: () => show(number) },
      },
      h("span", { class: "step", text: t("{n} · task {task}", { n: number, task }) }),
      bar,
      h("span", { class: "figures", text: figures(rest) }),
    );
    return h("li", { data: { number } }, choose, h("p", { class: "muted why", text: rest.at(-1) }));
  }

  /** Shows a step below the list: all of it, or its "diff" to the one before. */
  async function show(number, how = "") {
    const mine = (asked += 1);
    const ack = await app.aside(lineOf("context", `${number} ${how}`));
    if (!ack?.done || mine !== asked) return;
    for (const item of list.children)
      item.firstChild.setAttribute("aria-pressed", String(item.dataset.number === number));
    const words = how ? t("All") : t("Changes since the previous step");
    const change = button({ class: "small", on: { click: () => show(number, how ? "" : "diff") } }, words);
    shown.replaceChildren(h("div", { class: "buttons" }, change), drawCard(ack.card, { openFile: () => {} }));
    change.focus();
    shown.scrollIntoView({ block: "start" });
  }
}

const numberIn = (text) => Number(text.replaceAll(",", "")) || 0;

/** The words for the cells of a step from its tokens to its price. */
function figures([sent, hit, missed, price]) {
  if (!hit) return sent;
  return [
    t("{n:,} tokens", { n: sent }),
    t("{n} cached", { n: hit }),
    t("{n} not cached", { n: missed }),
    price,
  ].join(" · ");
}
