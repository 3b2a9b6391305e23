// Everything by keyboard. Single letters never act while something is being written.

import { remembered } from "../lib/storage.js";
import { typedAhead } from "./type_ahead.js";

/**
 * @param {import("../app.js").App} app
 * @param {{composer: any, approval: any, pane: any, tree: any, conversation: any, layout: any}} parts
 */
export function shortcuts(app, parts) {
  app.actions = actionsOf(app, parts);
  app.on("keys", () => showShortcuts(app));
  app.on("theme", () => import("../settings/theme.js").then(({ takeTheme }) => takeTheme(app)));
  app.on("settings", (wanted = "") =>
    typedAhead(import("../settings/settings_sheet.js"), ({ openSettings }) => openSettings(app, wanted)),
  );
  app.on("sessions", () =>
    typedAhead(
      import("../sessions/sessions.js").then(({ onceThere }) => onceThere()),
      (openSessions) => openSessions(app),
    ),
  );
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

/** The usual key of each action, which a person may change. */
export const KEYS = JSON.parse(document.documentElement.dataset.keys);

/** The keys as they are: the usual ones, and those that were changed. @returns {Record<string, string>} */
export function keysNow() {
  return { ...KEYS, ...JSON.parse(remembered("keys") ?? "{}") };
}

/** Whether Alt writes characters here that nothing else writes, as Option does on a Mac. */
export const isOptionKey = /^(?:Mac|iPhone|iPad)/.test(navigator.platform);

/** Whether a field gets a character from the key: no shortcut may keep it. @param {KeyboardEvent} event */
const writes = (event) =>
  isWriting(event) &&
  (event.key === "Dead" || [...event.key].length === 1) &&
  (event.getModifierState("AltGraph") || (isOptionKey && event.altKey && !event.ctrlKey && !event.metaKey));

const CODES = { Comma: ",", ArrowUp: "↑", ArrowDown: "↓", Backquote: "`" };

/** The key that is pressed, by its place: it is the same one on any layout. @param {KeyboardEvent} event */
export const keyOf = ({ key, code, ctrlKey, metaKey, altKey, shiftKey }) =>
  [ctrlKey || metaKey ? "Ctrl" : "", altKey ? "Alt" : "", shiftKey ? "Shift" : "", key === "Enter" ? key : (CODES[code] ?? code.replace(/^(Key|Digit)/, ""))]
    .filter(Boolean)
    .join("+");

/** @returns {Record<string, () => any>} */
function actionsOf(app, parts) {
  const emit = (name) => () => app.emit(name);
  return {
    palette: () => typedAhead(import("../search/commands.js"), ({ openPalette }) => openPalette(app)),
    open_file: () => typedAhead(import("../search/palette.js"), ({ openQuickly }) => openQuickly(app)),
    sessions: emit("sessions"),
    sidebar: emit("side"),
    pane: emit("pane"),
    compose: emit("compose"),
    save: () => parts.pane.save(),
    settings: emit("settings"),
    previous_message: () => moves(({ jump }) => jump(-1)),
    next_message: () => moves(({ jump }) => jump(1)),
    new_session: app.startSession,
    plan: emit("plan"),
    quote: emit("quote"),
    add_note: emit("note-selection"),
    rename: emit("rename"),
    next_part: () => moves(({ nextPart }) => nextPart(parts, 1)),
    previous_part: () => moves(({ nextPart }) => nextPart(parts, -1)),
  };
}

function chord(event, app, parts) {
  if (event.key === "Escape") return escape(event, app, parts);
  if (writes(event)) return null;
  const pressed = keyOf(event);
  const name = Object.entries(keysNow()).find(([, key]) => key === pressed)?.[0];
  return name && !(name === "rename" && isWriting(event)) ? app.actions[name] : null;
}

function letter(event, app, parts) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key === "?") return () => showShortcuts(app);
  const isInTree = event
    .composedPath()
    .some((node) => node instanceof Element && node.getAttribute("role") === "tree");
  const answer = /^(?:Key|Digit)([YAFNE1-4])$/.exec(event.code)?.[1].toLowerCase();
  if (answer && !isInTree && !event.shiftKey && parts.approval.key)
    return parts.approval.element.firstChild ? () => parts.approval.key(answer) : null;
  return null;
}

function escape(event, app, parts) {
  const compose = () => app.emit("compose");
  if (isWriting(event)) return compose; // who leaves a field stops nothing by it
  if (parts.layout.isOverlay() && !parts.layout.isPhone()) return () => app.emit("pane", false);
  return app.state.sessionState?.running ? app.stop : compose;
}

const moves = (work) => import("./moves.js").then(work);

async function showShortcuts(app) {
  const { openShortcuts } = await import("./shortcuts_sheet.js");
  openShortcuts(app);
}
