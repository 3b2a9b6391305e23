// The tools of the model: switched on and off, looked at, and tried in the tester.

import { button, h } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { lineOf } from "../store/declared.js";
import { api } from "../net/api.js";
import { openDialog } from "../dialogs/dialog.js";
import { openTester } from "./tester_sheet.js";
import { toolsApi } from "./tools_api.js";

const RISKS = {
  read: () => t("reads"),
  write: () => t("writes"),
  run: () => t("runs programs"),
  network: () => t("uses the network"),
  destroy: () => t("deletes"),
};

/** @param {import("../app.js").App} app */
export async function openToolsSheet(app) {
  const session = await app.sessionIsThere();
  const first = await app.attempt(() => toolsApi.tools(session));
  const model = first && (await app.attempt(() => api.model(session)));
  if (!model) return;
  const inUse = model.fields.find(({ name }) => name === "protocol")?.value;
  const switches = h("div", { class: "row" });
  const total = h("p", { class: "muted", role: "status" });
  const list = h("ul", { class: "kept-list" });
  const protocol = h(
    "select",
    { "aria-label": t("Protocol") },
    ...first.protocols.map((name) => h("option", { value: name, text: name, selected: name === inUse })),
  );
  const exact = h("pre", { hidden: true, tabIndex: 0, "aria-label": t("Sent to the model") });
  const showText = button({ class: "small", on: { click: () => show("") } }, t("Sent to the model"));
  const tryOut = button(
    {
      class: "small",
      on: {
        click: () => {
          dialog.close();
          openTester(app, first.protocols, protocol.value, first.tools[0]?.name);
        },
      },
    },
    t("Try a call …"),
  );
  const controls = h("div", { class: "buttons" }, protocol, showText, tryOut);
  protocol.addEventListener("change", () => showAgain());
  const dialog = openDialog(t("Tools"), "sheet tools-sheet", [
    switches,
    total,
    controls,
    exact,
    list,
  ]);
  // The last of what was asked for: an answer that comes after a later one's is out of date.
  let lastChange = 0;
  let lastText = 0;
  /** @type {string | null} the tool whose text was asked for, "" for all of them, null before that */
  let wanted = null;
  draw(first);

  function draw({ on, new: isNewOn, tools }) {
    const offered = on ? tools.filter((tool) => tool.on) : [];
    const tokens = offered.reduce((sum, tool) => sum + tool.tokens, 0);
    total.textContent = t("{n} of {all} are on, about {tokens:,} tokens per request.", {
      n: offered.length,
      all: tools.length,
      tokens: count(tokens),
    });
    switches.replaceChildren(
      labelled(box("all", on, ""), t("All tools")),
      labelled(box("new", isNewOn, "new"), t("New tools")),
    );
    list.replaceChildren(...tools.map((tool) => row(tool, on)));
  }

  function row(tool, isAnyOn) {
    const facts = [RISKS[tool.risk]?.() ?? tool.risk, tool.source, t("{n:,} tokens", { n: count(tool.tokens) })];
    const details = button(
      { class: "quiet small", "aria-label": t("Show {what}", { what: tool.name }), on: { click: () => show(tool.name) } },
      t("Show"),
    );
    return h(
      "li",
      { data: { tool: tool.name } },
      h(
        "span",
        { class: "what" },
        labelled(box(tool.name, tool.on, tool.name, !isAnyOn), h("code", { text: tool.name })),
        " ",
        say(tool.summary),
        h("span", { class: "muted", text: ` ${facts.join(" · ")}` }),
      ),
      details,
    );
  }

  function box(id, checked, name, disabled = false) {
    const input = h("input", { type: "checkbox", id: `tool-${id}`, checked, disabled });
    input.addEventListener("change", () => change(input.id, `${name} ${input.checked ? "on" : "off"}`.trim()));
    return input;
  }

  /** Switches, and draws what the server then says, also where it refused. */
  async function change(id, words) {
    const asked = ++lastChange;
    const ack = await app.aside(lineOf("tools", words));
    if (ack?.done && ack.card) app.notice(say(ack.card.body) || say(ack.card.title));
    const now = await app.attempt(() => toolsApi.tools(session));
    if (asked !== lastChange) return;
    if (now) draw(now);
    document.getElementById(id)?.focus();
    await showAgain();
  }

  async function showAgain() {
    if (wanted !== null) await show(wanted);
  }

  async function show(name) {
    wanted = name;
    const asked = ++lastText;
    const told = await app.attempt(() => toolsApi.text(session, protocol.value, name || undefined));
    if (!told || asked !== lastText) return;
    exact.hidden = false;
    exact.textContent = told.text || t("None: all tools are off.");
    const place = [...list.children].find((row) => row.dataset.tool === name);
    if (place) place.append(exact);
    else controls.after(exact);
    exact.scrollIntoView({ block: "nearest" });
  }
}

const labelled = (input, words) => h("label", { for: input.id }, input, " ", words);
