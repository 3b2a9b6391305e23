// Everything by keyboard. Single letters never act while something is being written.

import { typedAhead } from "./type_ahead.js";

/**
 * @param {import("../app.js").App} app
 * @param {{composer: any, approval: any, pane: any, tree: any, conversation: any, layout: any}} parts
 */
export function shortcuts(app, parts) {
  app.on("keys", showShortcuts);
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

function chord(event, app, parts) {
  const { code, ctrlKey, metaKey, altKey, shiftKey } = event;
  if ((ctrlKey || metaKey) && !altKey && !shiftKey) {
    return (
      {
        KeyK: () => app.emit("sessions"),
        KeyP: () => typedAhead(import("../search/palette.js"), ({ openQuickly }) => openQuickly(app)),
        KeyB: () => app.emit("side"),
        KeyJ: () => app.emit("pane"),
        KeyL: () => parts.composer.focus(),
        KeyS: () => parts.pane.save(),
        Comma: () => typedAhead(import("../settings/settings_sheet.js"), ({ openSettings }) => openSettings(app)),
      }[code] ?? null
    );
  }
  if ((ctrlKey || metaKey) && shiftKey && code === "KeyF") return () => app.emit("sessions");
  if (altKey && !ctrlKey && !metaKey)
    return (
      {
        ArrowUp: () => moves(({ jump }) => jump(-1)),
        ArrowDown: () => moves(({ jump }) => jump(1)),
        KeyN: app.startSession,
        KeyQ: () => app.emit("quote"),
        KeyM: () => app.emit("note-selection"),
      }[code] ?? null
    );
  if (event.key === "F2" && !isWriting(event)) return () => app.emit("rename");
  if (event.key === "F6") return () => moves(({ nextPart }) => nextPart(parts, shiftKey ? -1 : 1));
  if (event.key === "Escape") return escape(event, app, parts);
  return null;
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
