// The line at the bottom: connection, model, context by part, cache, cost, sandbox.

import { attribute, button, h, retext } from "../lib/dom.js";
import { count, money } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { lineOf } from "../store/declared.js";
import { cacheShare } from "../store/selectors.js";

const LINKS = {
  connecting: () => t("Connecting"),
  live: () => t("Connected"),
  lost: () => t("Connection lost. Reconnecting …"),
  denied: () => t("Not logged in"),
  keyless: () => t("Not logged in"),
};

/** The parts of the model's context, in the order of the bar. */
export const PARTS = {
  system: () => t("instructions"),
  tools: () => t("tools"),
  context: () => t("focus, notes, memory"),
  talk: () => t("conversation"),
  answers: () => t("tool results"),
};

const DEPTHS = { social: () => t("social"), brief: () => t("brief"), deep: () => t("deep") };

/** @param {import("../app.js").App} app */
export function statusBar(app) {
  const dot = h("span", { class: "dot" });
  const longest = [LINKS.connecting(), LINKS.live()].sort((one, other) => other.length - one.length)[0];
  const link = h("span", { class: "link-words", data: { longest } }); // which has its room from the start
  const practice = h("span", { class: "badge practice", hidden: true, text: t("practice model, no AI") });
  const bar = h(
    "span",
    { class: "context-bar", role: "img" },
    ...Object.keys(PARTS).map((part) => h("span", { class: `part ${part}` })),
  );
  const context = button(
    { class: "quiet tiny", on: { click: openStatus } },
    bar,
    h("span", { class: "context-words" }),
  );
  const cache = h("span", { class: "wide-only" });
  const cost = h("span", {});
  const tier = h("span", { class: "tier wide-only" });
  const depth = button({ class: "quiet tiny depth", title: t("Depth of the last task"), on: { click: () => app.send(lineOf("depth")) } });
  const focus = h("span", { class: "wide-only" });
  const more = button(
    { class: "quiet tiny", title: t("Session details"), on: { click: openStatus } },
    t("Details"),
  );
  const element = h(
    "div",
    { class: "statusbar", role: "status", "aria-label": t("Status"), "aria-live": "off" },
    h("span", { class: "connection" }, dot, link),
    practice,
    context,
    depth,
    cache,
    cost,
    focus,
    h("span", { class: "gap" }),
    tier,
    more,
  );

  app.subscribe(({ link: now, sessionState, status }) => {
    for (const each of [dot, element]) attribute(each, "data-link", now);
    retext(link, LINKS[now]());
    practice.hidden = !(sessionState?.practice ?? status?.practice);
    context.hidden = !sessionState;
    if (sessionState) drawUse(sessionState);
  });

  app.on("session", async (session) => {
    const ack = await app.connection.command("command", { session, line: lineOf("status") }).catch(() => null);
    const rows = ack?.card?.rows ?? [];
    const named = (name) =>
      rows.filter(([label]) => (label.template ?? label) === name).map(([, value]) => say(value));
    const [sandbox] = named("Sandbox");
    const isAlarm = rows.some(([label], at) => label.template === "Sandbox" && ack.card.alarms?.includes(at));
    tier.className = isAlarm ? "tier alarm" : "tier wide-only";
    if (isAlarm) tier.replaceChildren(t("no sandbox"), h("span", { class: "wide-only" }, ` · ${sandbox}`));
    else retext(tier, sandbox ? t("sandbox: {tier}", { tier: sandbox }) : "");
    tier.title = [t("Not protected"), ...named("Not protected")].join("\n· ");
  });

  import("./project_state.js").then(({ projectState }) => focus.after(...projectState(app)));

  async function openStatus() {
    const { openStatusSheet } = await import("./status_sheet.js");
    await openStatusSheet(app);
  }

  function drawUse(sessionState) {
    const { usage } = sessionState;
    const { used, limit, parts = {} } = sessionState.context;
    for (const [index, part] of Object.keys(PARTS).entries()) {
      bar.children[index].style.width = `${Math.min(100, (100 * (parts[part] ?? 0)) / limit)}%`;
    }
    const share = (100 * used) / limit;
    retext(context.lastElementChild, `${count(used)} / ${count(limit)}`);
    const words = t("Context: {used:,} of {limit:,} tokens ({part} %)", { used, limit, part: share.toFixed(1) });
    attribute(bar, "aria-label", words);
    context.title = [
      words,
      ...Object.entries(PARTS)
        .filter(([part]) => parts[part])
        .map(([part, name]) => `${name()}: ${count(parts[part])}`),
    ].join("\n");
    const hits = cacheShare(usage);
    retext(cache, hits === null ? "" : t("cache {part} %", { part: Math.round(hits * 100) }));
    retext(depth, DEPTHS[sessionState.depth]?.() ?? "");
    depth.hidden = !depth.textContent;
    retext(cost, money(usage.cost_usd));
    cost.title = t("input {input}, output {output} (thinking {thinking})", {
      input: count(usage.prompt_tokens),
      output: count(usage.completion_tokens),
      thinking: count(usage.reasoning_tokens),
    });
    const files = sessionState.focus ?? [];
    retext(
      focus,
      files.length
        ? t("{n} in focus, {tokens:,} tokens", {
            n: files.length,
            tokens: count(files.reduce((sum, file) => sum + file.tokens, 0)),
          })
        : "",
    );
  }
  return { element };
}
