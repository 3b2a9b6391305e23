// The sheet that "Details" in the status bar opens: all of /status, the context by part, the focus.

import { button, h } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { t } from "../i18n/translate.js";
import { drawCard } from "../cards/cards.js";
import { lineOf } from "../store/declared.js";
import { PARTS } from "./status_bar.js";
import { openDialog } from "../dialogs/dialog.js";

/** @param {import("../app.js").App} app */
export async function openStatusSheet(app) {
  const ack = await app.aside(lineOf("status"));
  if (!ack?.card) return;
  const { sessionState } = app.state;
  const rows = Object.entries(PARTS)
    .filter(([part]) => sessionState?.context.parts?.[part])
    .map(([part, name]) =>
      h(
        "li",
        {},
        h("span", { class: `swatch ${part}` }),
        name(),
        h("span", { class: "muted", text: count(sessionState.context.parts[part]) }),
      ),
    );
  const compact = button(
    {
      class: "small",
      on: {
        click: () => {
          dialog.close();
          app.send(lineOf("compact"));
        },
      },
    },
    t("Compact now"),
  );
  const others = [
    sheet(t("Prompt …"), async () => (await import("./prompt_sheet.js")).openPromptSheet(app)),
    sheet(t("Usage …"), async () => (await import("./figures_sheet.js")).openFigures(app)),
    sheet(t("Tools …"), async () => (await import("../tools/tools_sheet.js")).openToolsSheet(app)),
    sheet(t("Skills …"), async () => (await import("../skills/skills_sheet.js")).openSkillsSheet(app)),
    sheet(t("Results …"), () => app.emit("results")),
    sheet(t("Always allowed …"), async () => (await import("../approval/kept_sheet.js")).openKeptSheet(app)),
    sheet(t("Phone …"), () => app.emit("phone")),
    sheet(t("Settings …"), async () => (await import("../settings/settings_sheet.js")).openSettings(app)),
  ];
  const focus = (sessionState?.focus ?? []).map(({ path, tokens }) =>
    h(
      "li",
      {},
      h("code", { text: path }),
      h("span", { class: "muted", text: t("{n:,} tokens", { n: count(tokens) }) }),
      button(
        {
          class: "quiet small",
          on: {
            click: () => {
              app.aside(lineOf("unfocus", path));
              dialog.close();
            },
          },
        },
        t("Remove from focus"),
      ),
    ),
  );
  const dialog = openDialog(t("Session"), "sheet status-sheet", [
    sessionState ? contextBar(sessionState.context) : null,
    h("ul", { class: "legend" }, ...rows),
    focus.length ? h("ul", { class: "focus-list" }, ...focus) : null,
    drawCard(ack.card, { openFile: () => {} }),
    h("div", { class: "buttons" }, ...others, compact),
  ]);

  /** What fills the context, by part; pressed, it opens what the model read. */
  function contextBar({ used, limit, parts = {} }) {
    const words = t("Context: {used:,} of {limit:,} tokens ({part} %)", { used, limit, part: ((100 * used) / limit).toFixed(1) });
    const click = async () => {
      dialog.close();
      (await import("./prompt_sheet.js")).openPromptSheet(app);
    };
    const bar = button(
      { class: "context-whole", title: t("Show what the model read"), "aria-label": `${words}. ${t("Show what the model read")}`, on: { click } },
      ...Object.keys(PARTS).map((part) => h("span", { class: `part ${part}` })),
    );
    for (const [at, part] of Object.keys(PARTS).entries())
      bar.children[at].style.width = `${Math.min(100, (100 * (parts[part] ?? 0)) / limit)}%`;
    return h("div", {}, bar, h("p", { class: "muted", text: words }));
  }

  /** A button that opens another sheet in the place of this one. */
  function sheet(words, open) {
    const click = () => {
      dialog.close();
      void open();
    };
    return button({ class: "small", on: { click } }, words);
  }
}
