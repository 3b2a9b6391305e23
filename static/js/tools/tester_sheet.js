// The tool tester: a call as a model writes it, run without a model, kept as a case, run again.

import { button, h } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { drawCard } from "../cards/cards.js";
import { drawPreview } from "../approval/question.js";
import { openDialog } from "../dialogs/dialog.js";
import { toolsApi } from "./tools_api.js";

const HOST = { openFile: () => {} };
const MARKS = { done: "✓", failed: "✗", refused: "⊘", stopped: "■" };

/**
 * @param {import("../app.js").App} app
 * @param {string[]} protocols
 * @param {string} inUse the one to begin with
 * @param {string} tool of the first text
 */
export function openTester(app, protocols, inUse, tool) {
  let id = "";
  let isRunning = false;
  const text = h("textarea", { id: "call-text", rows: 6, spellcheck: "false", value: JSON.stringify({ name: tool, arguments: {} }) });
  const protocol = choice(
    t("Protocol"),
    protocols.map((name) => [name, name]),
  );
  protocol.value = inUse;
  const place = choice(t("Where it runs"), [
    ["scratch", t("in an empty scratch folder")],
    ["project", t("in the project")],
  ]);
  const run = button({ class: "primary", on: { click: start } }, t("Run"));
  const stop = button({ disabled: true, on: { click: halt } }, t("Stop"));
  const cases = button({ on: { click: runCases } }, t("Run all cases"));
  const came = h("div", { "aria-live": "polite", tabIndex: -1 });
  const dialog = openDialog(t("Tool tester"), "sheet tester-sheet", [
    h("label", { for: text.id }, t("A call in JSON, or as a model writes it. No model is used.")),
    text,
    h("div", { class: "buttons" }, protocol, place, run, stop, cases),
    came,
  ]);
  dialog.addEventListener("close", leave);
  text.focus();

  async function start() {
    id = crypto.randomUUID();
    const body = { text: text.value, place: place.value, protocol: protocol.value, id };
    draw(await during(() => toolsApi.run(body)));
  }

  /** Runs *action* while nothing else can be begun; null where it was refused. */
  async function during(action) {
    isRunning = true;
    for (const one of [run, cases]) one.disabled = true;
    stop.disabled = false;
    came.replaceChildren(h("p", { class: "muted", text: t("Running …") }));
    came.focus(); // the button that began it takes none now
    const told = await app.attempt(action);
    isRunning = false;
    for (const one of [run, cases]) one.disabled = false;
    stop.disabled = true;
    came.replaceChildren();
    return told;
  }

  function halt() {
    if (isRunning && id) app.attempt(() => toolsApi.tell(id, "stop"));
  }

  /** Whoever leaves a question says no to it. */
  function leave() {
    if (came.querySelector(".question")) app.attempt(() => toolsApi.tell(id, "answer", { yes: false }));
    else halt();
  }

  function draw(told) {
    if (told?.question) came.replaceChildren(question(told.question));
    else if (told?.run) came.replaceChildren(...told.run.calls.map(result), after(told.run));
    came.focus();
  }

  function question({ name, why, preview, risk }) {
    const reason = h("input", { id: "refusal", "aria-label": t("Reason"), placeholder: t("Reason") });
    const reply = (yes) => async () => {
      const body = { yes, reason: reason.value };
      draw(await during(() => toolsApi.tell(id, "answer", body)));
    };
    return h(
      "div",
      { class: "question", data: { risk } },
      h("p", {}, h("code", { text: name }), " ", say(why)),
      drawPreview(preview, HOST),
      h(
        "div",
        { class: "buttons" },
        button({ class: "primary", on: { click: reply(true) } }, t("Yes")),
        button({ on: { click: reply(false) } }, t("No")),
        reason,
      ),
    );
  }

  function after({ place: where }) {
    const name = h("input", { id: "case-name", "aria-label": t("Case name"), placeholder: t("Case name") });
    const keep = h("button", { type: "submit" }, t("Save as a case"));
    const undo = button({ on: { click: takeBack } }, t("Undo this run"));
    const form = h("form", { class: "buttons" }, name, keep, where === "project" ? undo : null);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      save(name);
    });
    return form;
  }

  async function save(name) {
    const kept = await app.attempt(() => toolsApi.tell(id, "case", { name: name.value.trim() }));
    if (kept) app.notice(t("Saved as case {name}.", { name: kept.name }));
  }

  async function takeBack() {
    const told = await app.attempt(() => toolsApi.tell(id, "undo"));
    if (told) app.notice(say(told.card?.title), !told.done);
  }

  async function runCases() {
    id = "";
    const told = await during(() => toolsApi.runCases());
    if (!told) return;
    const bad = told.cases.filter((one) => one.difference).length;
    came.replaceChildren(
      h("p", { text: t("Cases run: {n:,}, different: {bad:,}.", { n: told.cases.length, bad }) }),
      ...told.cases.map(({ name, difference }) =>
        h(
          "details",
          { open: Boolean(difference) },
          h("summary", { text: `${difference ? MARKS.failed : MARKS.done} ${name}` }),
          h("pre", { tabIndex: 0, text: say(difference) || t("as expected") }),
        ),
      ),
    );
  }
}

/** What came of a call: as it was understood, the answer for the model, and the card for people. */
function result({ name, arguments: given, state, answer, tokens, seconds, card }) {
  return h(
    "section",
    { data: { state } },
    h("h3", {}, `${MARKS[state]} ${name}`),
    h("pre", { tabIndex: 0, text: JSON.stringify(given, null, 1) }),
    h("p", {
      class: "muted",
      text: t("What the model reads ({n:,} tokens, after {seconds} s):", {
        n: count(tokens),
        seconds: seconds.toFixed(2),
      }),
    }),
    h("pre", { class: "answer", tabIndex: 0, text: answer }),
    h("p", { class: "muted", text: t("What you see:") }),
    drawCard(card, HOST),
  );
}

function choice(label, options) {
  return h(
    "select",
    { "aria-label": label },
    ...options.map(([value, words]) => h("option", { value, text: words })),
  );
}
