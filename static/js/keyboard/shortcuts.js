// Everything by keyboard. Single letters never act while something is being written.

import { remembered } from "../lib/storage.js";
import { typedAhead } from "./type_ahead.js";

/**
 * @param {import("../app.js").App} app
 * @param {{composer: any, approval: any, pane: any, tree: any, conversation: any, layout: any}} parts
 */
export function shortcuts(app, parts) {
  app.actions = actionsOf(app, parts);
  app.on("keys", showShortcuts);
  app.on("settings", (wanted = "") =>
    typedAhead(import("../settings/settings_sheet.js"), ({ openSettings }) => openSettings(app, wanted)),
  );
  app.on("sessions", () => typedAhead(import("../sessions/sessions.js"), ({ openSessions }) => openSessions(app)));
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    const work = chord(event, app, parts) ?? (isWriting(event) ? null : letter(event, app, parts));
    if (!work) return;
    event.preventDefault();
    work();
  });
}

/** @param {KeyboardEvent} event */
function isWriting(event) {
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** What keys do: the usual key of each, which a person may change. */
export const KEYS = {
  palette: "Ctrl+K",
  file: "Ctrl+P",
  sessions: "Ctrl+Shift+F",
  side: "Ctrl+B",
  pane: "Ctrl+J",
  compose: "Ctrl+L",
  save: "Ctrl+S",
  settings: "Ctrl+,",
  before: "Alt+↑",
  after: "Alt+↓",
  new: "Alt+N",
  quote: "Alt+Q",
  note: "Alt+M",
  rename: "F2",
  part: "F6",
  "part-back": "Shift+F6",
};

/** The keys as they are: the usual ones, and those that were changed. @returns {typeof KEYS} */
export function keysNow() {
  return { ...KEYS, ...JSON.parse(remembered("keys") ?? "{}") };
}

export const CODES = { Comma: ",", ArrowUp: "↑", ArrowDown: "↓" };

/** The key that is pressed, by its place: it is the same one on any layout. @param {KeyboardEvent} event */
export const keyOf = ({ code, ctrlKey, metaKey, altKey, shiftKey }) =>
  [ctrlKey || metaKey ? "Ctrl" : "", altKey ? "Alt" : "", shiftKey ? "Shift" : "", CODES[code] ?? code.replace(/^(Key|Digit)/, "")]
    .filter(Boolean)
    .join("+");

/** @returns {Record<keyof typeof KEYS, () => any>} */
function actionsOf(app, parts) {
  const emit = (name) => () => app.emit(name);
  return {
    palette: () => typedAhead(import("../search/commands.js"), ({ openPalette }) => openPalette(app)),
    file: () => typedAhead(import("../search/palette.js"), ({ openQuickly }) => openQuickly(app)),
    sessions: emit("sessions"),
    side: emit("side"),
    pane: emit("pane"),
    compose: emit("compose"),
    save: () => parts.pane.save(),
    settings: emit("settings"),
    before: () => moves(({ jump }) => jump(-1)),
    after: () => moves(({ jump }) => jump(1)),
    new: app.startSession,
    quote: emit("quote"),
    note: emit("note-selection"),
    rename: emit("rename"),
    part: () => moves(({ nextPart }) => nextPart(parts, 1)),
    "part-back": () => moves(({ nextPart }) => nextPart(parts, -1)),
  };
}

function chord(event, app, parts) {
  if (event.key === "Escape") return escape(event, app, parts);
  const pressed = keyOf(event);
  const name = Object.entries(keysNow()).find(([, key]) => key === pressed)?.[0];
  return name && !(name === "rename" && isWriting(event)) ? app.actions[name] : null;
}

function letter(event, app, parts) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key === "?") return showShortcuts;
  const isInTree = event
    .composedPath()
    .some((node) => node instanceof Element && node.getAttribute("role") === "tree");
  const answer = /^(?:Key|Digit)([YAFNE1-4])$/.exec(event.code)?.[1].toLowerCase();
  if (answer && !isInTree && !event.shiftKey && parts.approval.key)
    return parts.approval.element.firstChild ? () => parts.approval.key(answer) : null;
  return null;
}

function escape(event, app, parts) {
  if (isWriting(event)) return () => parts.composer.focus(); // who leaves a field stops nothing by it
  if (parts.layout.isOverlay() && !parts.layout.isPhone()) return () => app.emit("pane", false);
  return app.state.sessionState?.running ? app.stop : () => parts.composer.focus();
}

const moves = (work) => import("./moves.js").then(work);

async function showShortcuts() {
  const { openShortcuts } = await import("./shortcuts_sheet.js");
  openShortcuts();
}
