// Ctrl+K: everything that can be done or opened, by a few letters of its name.

import { h } from "../lib/dom.js";
import { nameOf, visible } from "../lib/format.js";
import { say, t } from "../i18n/translate.js";
import { api } from "../net/api.js";
import { openDialog } from "../dialogs/dialog.js";
import { keysNow } from "../keyboard/shortcuts.js";
import { wordsOfKeys } from "../keyboard/shortcuts_sheet.js";
import { choosingList } from "./choosing_list.js";
import { findPlaces } from "./find_places.js";
import { Symbols } from "./symbols.js";

/** @typedef {{kind: string, words: string, more: string, key?: string, run: () => void}} Found */

const MOST = 12; // of a kind

/** @param {import("../app.js").App} app @returns {HTMLInputElement} the field for the words */
export function openPalette(app) {
  app.finder.forget(); // what came since nobody looked is to be found, too
  const told = Promise.all([
    app.attempt(() => api.settings()).then((answer) => (answer?.settings ?? []).map((one) => setting(app, one))),
    app.attempt(() => api.commands()).then((answer) => (answer?.commands ?? []).map((one) => command(app, one))),
  ]);
  const symbols = new Symbols(app, () => list.search());
  const list = choosingList({
    name: t("Find anything"),
    none: t("Nothing found."),
    find: async (words) => {
      const [settings, commands] = await told;
      const places = words.trim() ? ((await app.attempt(() => findPlaces(app.finder, words, MOST))) ?? []) : [];
      const known = [actions(app), sessions(app), commands, settings];
      const named = [...known.flatMap((some) => fitting(some, words)), ...places.map((place) => file(app, place))];
      const defined = symbols.wanted(words);
      const shown = named.length ? defined : await symbols.first(); // Enter waits for the only ones
      return [...named, ...shown.map((one) => symbol(app, one))];
    },
    draw: ({ kind, words, more, key }) => [
      h("b", { text: words }),
      h("span", { class: "muted", text: more }),
      h("span", { class: "gap" }),
      key ? h("kbd", { text: key }) : h("span", { class: "muted", text: kind }),
    ],
    choose: (found) => {
      if (!found) return;
      dialog.close();
      found.run();
    },
  });
  const dialog = openDialog(t("Find anything"), "sheet palette", [list.field, list.element]);
  dialog.addEventListener("close", () => symbols.end());
  list.field.focus();
  return list.field;
}

/** Those that have all words, first those that have them in their names; without any the first of them. @param {Found[]} some */
function fitting(some, wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text) => words.every((word) => text.toLowerCase().includes(word));
  const named = some.filter((one) => has(one.words));
  const told = some.filter((one) => !has(one.words) && has(`${one.words} ${one.more}`));
  return [...named, ...told].slice(0, MOST + (words.length ? 0 : 4));
}

/** @returns {Found[]} */
function actions(app) {
  const keys = keysNow();
  const named = Object.entries(wordsOfKeys(app)).filter(([name]) => name !== "palette" && app.actions[name]);
  return [
    ...named.map(([name, words]) => ({ kind: "", words, more: "", key: keys[name], run: app.actions[name] })),
    { kind: "", words: t("Keyboard shortcuts"), more: "", key: "?", run: () => app.emit("keys") },
    { kind: t("action"), words: t("Git: changes, commit and log"), more: "", run: () => app.emit("git") },
    { kind: t("action"), words: t("Agents: what is at work"), more: "", run: () => app.emit("agents") },
    { kind: t("action"), words: t("Results: files handed over"), more: "", run: () => app.emit("results") },
    { kind: t("action"), words: t("Skills: list, install, remove"), more: "", run: () => openSkills(app) },
    { kind: t("action"), words: t("Use this page on a phone"), more: "", run: () => app.emit("phone") },
    { kind: t("action"), words: t("Choose the model"), more: "", run: () => chooseModel(app) },
    ...SHEETS.map(([words, open]) => ({ kind: t("action"), words: words(), more: "", run: () => open(app) })),
  ];
}

/** What "Session details" leads to. @type {[() => string, (app: import("../app.js").App) => Promise<void>][]} */
const SHEETS = [
  [() => t("Session details"), async (app) => (await import("../status/status_sheet.js")).openStatusSheet(app)],
  [() => t("What the model read"), async (app) => (await import("../status/prompt_sheet.js")).openPromptSheet(app)],
  [() => t("Usage"), async (app) => (await import("../status/figures_sheet.js")).openFigures(app)],
  [() => t("Tools"), async (app) => (await import("../tools/tools_sheet.js")).openToolsSheet(app)],
  [() => t("Always allowed"), async (app) => (await import("../approval/kept_sheet.js")).openKeptSheet(app)],
];

const openSkills = (app) => import("../skills/skills_sheet.js").then(({ openSkillsSheet }) => openSkillsSheet(app));

const chooseModel = (app) =>
  import("../status/model_picker.js").then(({ openModelPicker }) => openModelPicker(app));

/** @returns {Found[]} */
const sessions = (app) =>
  app.state.sessions.map(({ id, title, last = "", tags = [] }) => ({
    kind: t("session"),
    words: title || t("Untitled"),
    more: [...tags.map((tag) => `#${tag}`), last].join(" "),
    run: () => app.openSession(id),
  }));

/** @returns {Found} */
const setting = (app, { name, meaning }) => ({
  kind: t("setting"),
  words: name,
  more: say(meaning),
  run: () => app.emit("settings", name),
});

/** A command is written into the message: it may want more words. @returns {Found} */
const command = (app, { name, help }) => ({
  kind: t("command"),
  words: name,
  more: say(help),
  run: () => app.emit("draft", `${name} `),
});

/** @returns {Found} */
const symbol = (app, { name, path, line }) => ({
  kind: t("symbol"),
  words: name,
  more: `${path}:${line}`,
  run: () => app.emit("open", { path, line, isEntered: true }),
});

/** @returns {Found} */
const file = (app, { path, line }) => ({
  kind: t("file"),
  words: visible(nameOf(path)) + (line ? `:${line}` : ""),
  more: visible(path),
  run: () => app.emit("open", { path, line, isEntered: true }),
});
