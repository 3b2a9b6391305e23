// What was spent as charts: tokens, cache hits and cost, by turn, session, day and model. The same
// numbers stand in a table below, which sorts and is kept as CSV.

import { button, h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { money } from "../lib/format.js";
import { request } from "../net/api.js";
import { say, t } from "../i18n/translate.js";
import { addTableTools } from "../tables/table_tools.js";
import { csv } from "../tables/table_values.js";
import { openDialog } from "../dialogs/dialog.js";
import { barChart } from "./bar_chart.js";

/** @typedef {{key: string, label: string, usage: Record<string, number>}} Figure */

const WAYS = {
  turn: () => t("Turn"),
  session: () => t("Session"),
  day: () => t("Day"),
  model: () => t("Model"),
};

/** What the columns of the table and of its CSV are called, and their numbers. */
const COLUMNS = {
  requests: [() => t("Requests"), (usage) => usage.requests],
  prompt_tokens: [() => t("Tokens in"), (usage) => usage.prompt_tokens],
  cache_hit_tokens: [() => t("From cache"), (usage) => usage.cache_hit_tokens],
  completion_tokens: [() => t("Tokens out"), (usage) => usage.completion_tokens],
  cost_usd: [() => t("Cost"), (usage) => usage.cost_usd],
};

/** @param {import("../app.js").App} app */
export function openFigures(app) {
  let asked = 0;
  const shown = h("div", { class: "figures-shown", "aria-live": "polite" });
  const ways = Object.entries(WAYS).map(([by, name]) =>
    button({ class: "small", "aria-pressed": "false", data: { by }, on: { click: () => show(by) } }, name()),
  );
  const choice = h("div", { class: "buttons", role: "group", "aria-label": t("Usage by") }, ...ways);
  openDialog(t("Usage"), "sheet figures-sheet", [choice, shown]);
  void show("turn");

  async function show(by) {
    const mine = (asked += 1);
    for (const way of ways) way.setAttribute("aria-pressed", String(way.dataset.by === by));
    const query = { by, session: app.state.session };
    const { figures } = await request("GET", "/api/figures", { query }).catch((refusal) => {
      app.notice(say(refusal.phrase), true);
      return { figures: [] };
    });
    if (mine === asked) shown.replaceChildren(...drawn(by, figures));
  }
}

/** @param {keyof WAYS} by @param {Figure[]} figures */
function drawn(by, figures) {
  if (!figures.length) return [h("p", { class: "muted", text: t("Nothing was spent yet.") })];
  const labels = figures.map(({ label }) => label);
  const chart = (title, parts, words, most = 0) =>
    barChart({ title, labels, words, most, parts: parts.map(([name, value]) => [name, figures.map(value)]) });
  return [
    chart(t("Tokens"), [
      [t("From cache"), ({ usage }) => usage.cache_hit_tokens],
      [t("Not from cache"), ({ usage }) => usage.prompt_tokens - usage.cache_hit_tokens],
      [t("Tokens out"), ({ usage }) => usage.completion_tokens],
    ], (value) => value.toLocaleString()),
    chart(t("Cache hits"), [[t("From cache"), ({ usage }) => share(usage)]], (value) => `${Math.round(value)} %`, 100),
    chart(t("Cost"), [[t("Cost"), ({ usage }) => usage.cost_usd]], money),
    ...table(by, figures),
  ];
}

const share = ({ prompt_tokens, cache_hit_tokens }) => (prompt_tokens ? (100 * cache_hit_tokens) / prompt_tokens : 0);

function table(by, figures) {
  const heads = [WAYS[by](), ...Object.values(COLUMNS).map(([name]) => name())];
  const numbers = ({ usage }) => Object.values(COLUMNS).map(([, value]) => value(usage));
  const cells = ({ label, usage }) => [
    label,
    ...Object.entries(COLUMNS).map(([name, [, value]]) =>
      name === "cost_usd" ? money(value(usage)) : value(usage).toLocaleString(),
    ),
  ];
  const row = (figure) => {
    const [label, ...rest] = cells(figure);
    return h("tr", {}, h("th", { scope: "row", text: label }), ...rest.map((text) => h("td", { align: "right", text })));
  };
  const element = h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col", text })))),
    h("tbody", {}, ...figures.map(row)),
  );
  const frame = h("div", { class: "wide", tabIndex: 0, role: "group", "aria-label": t("Table") }, element);
  const place = h("div", {}, frame);
  addTableTools(element);
  const whole = [heads, ...figures.map((figure) => [figure.label, ...numbers(figure).map(String)])];
  const href = URL.createObjectURL(new Blob([`\ufeff${csv(whole)}`], { type: "text/csv" }));
  const link = h("a", { class: "button small", href, download: `onefold-${by}.csv` }, icon("download"), t("Download as CSV"));
  return [place, h("p", {}, link)];
}
