// The bar at selected text, of a reply or of an open file: quote it, note something on it.

import { button, h } from "../lib/dom.js";
import { folderOf } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { t } from "../i18n/translate.js";
import { goesRound } from "../dialogs/tab_round.js";
import { api } from "../net/api.js";

const GAP = 8; // px between the text and the bar

/**
 * @typedef {object} Selected
 * @property {string} text
 * @property {{left: number, top: number, bottom: number}} place on the screen
 * @property {string} [path] of the file it is in
 * @property {number} [first] its first line, and its last
 * @property {number} [last]
 */

/**
 * Offers a small bar beside whatever is selected.
 * @param {import("../app.js").App} app
 * @param {Selected | null} found what is selected in a file already
 */
export function selection(app, found) {
  /** @type {Selected | null} */
  let current = null;
  let isWriting = false;
  const act = (picture, words, keys, work) =>
    button({ class: "quiet small", "aria-keyshortcuts": keys, on: { click: work } }, icon(picture), words);
  const offer = [
    act("note", t("Add note"), "Alt+M", () => write()),
    act("chat", t("Quote in message"), "Alt+Q", () => quote()),
  ];
  const bar = h("div", {
    class: "selection-bar",
    role: "toolbar",
    "aria-label": t("Selected text"),
    hidden: true,
    on: {
      // The text would be selected no longer.
      mousedown: (event) => event.target.closest("textarea") || event.preventDefault(),
    },
  });
  document.body.append(h("section", { "aria-label": t("Selected text") }, bar));
  document.addEventListener("selectionchange", () => show(inReply()));
  app.on("selected", show);
  app.on("quote", () => current && quote());
  app.on("note-selection", () => current && write());
  addEventListener("resize", moved);
  document.addEventListener("scroll", moved, { capture: true, passive: true });
  show(found ?? inReply());

  /** The selected text has another place now. */
  function moved() {
    if (isWriting || !current) return;
    if (current.path) hide();
    else show(inReply());
  }

  /** @param {Selected | null} selected */
  function show(selected) {
    if (isWriting || (!selected && current?.path && isInEditor())) return;
    current = selected;
    if (!selected || selected.place.bottom < 0 || selected.place.top > innerHeight) return hide();
    bar.replaceChildren(...offer);
    bar.hidden = false;
    put(selected.place);
  }

  function put({ left, top, bottom }) {
    const { offsetWidth: width, offsetHeight: height } = bar;
    const above = top - height - GAP;
    bar.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
    bar.style.top = `${above > GAP ? above : Math.min(bottom + GAP, innerHeight - height - GAP)}px`;
  }

  function hide() {
    if (isWriting) return;
    bar.hidden = true;
  }

  function leave() {
    isWriting = false;
    current = null;
    bar.hidden = true;
  }

  function quote(words = "") {
    const { text, path, first, last } = current;
    leave();
    app.emit("draft", path ? ofFile({ text, path, first, last }, words) : ofReply(text, words));
  }

  function write() {
    const selected = current;
    isWriting = true;
    const area = h("textarea", { rows: 3, "aria-label": t("Note") });
    const before = document.activeElement;
    const close = () => {
      leave();
      if (before instanceof HTMLElement) before.focus();
    };
    let isKeeping = false;
    const keep = async () => {
      const words = area.value.trim();
      if (!words) return close();
      if (isKeeping) return; // pressed twice
      current = selected;
      if (!selected.path) return quote(words);
      isKeeping = true;
      isKeeping = Boolean(await app.attempt(() => note(selected, words)));
      if (isKeeping) {
        close();
        app.emit("files", { by: "person", folders: [folderOf(selected.path)], paths: [selected] });
        app.notice(t("Note saved."));
      }
    };
    const form = h(
      "form",
      {
        "aria-label": t("Add note"),
        on: {
          submit: (event) => {
            event.preventDefault();
            keep();
          },
          keydown: (event) => {
            if (event.isComposing || event.keyCode === 229) return;
            if (event.key === "Escape") close();
            else if (event.key === "Enter" && !event.shiftKey) keep();
            else if (!goesRound(form, event)) return;
            event.preventDefault();
            event.stopPropagation();
          },
        },
      },
      h("p", {
        class: "muted",
        text: selected.path
          ? t("The note stays with these lines, and the agent reads it. “Do not touch …” protects them.")
          : t("Added to your next message with the quoted text."),
      }),
      area,
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "submit", class: "primary small" }, t("Add note")),
        button({ class: "small", on: { click: close } }, t("Cancel")),
      ),
    );
    bar.replaceChildren(form);
    bar.hidden = false;
    put(selected.place);
    area.focus();
  }
}

/** Notes *words* on some lines of a file. */
const note = ({ path, first, last }, words) => api.note(path, words, { start: first, end: last });

/** @returns {Selected | null} what is selected of one reply */
function inReply() {
  const found = document.getSelection();
  if (!found?.rangeCount || found.isCollapsed) return null;
  const range = found.getRangeAt(0);
  const at = range.commonAncestorContainer;
  const element = at instanceof Element ? at : at.parentElement;
  const text = found.toString().trim();
  if (!element?.closest(".reply") || !text) return null;
  const { left, top, bottom } = range.getBoundingClientRect();
  return { text, place: { left, top, bottom } };
}

const isInEditor = () => Boolean(document.activeElement?.closest?.(".editor"));

const ofReply = (text, words) => `${text.replace(/^/gm, "> ")}\n\n${words}`;

function ofFile({ text, path, first, last }, words) {
  const where =
    first === last
      ? t("In {path}, line {first}:", { path, first })
      : t("In {path}, lines {first} to {last}:", { path, first, last });
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${where}\n${fence}\n${text.replace(/\n$/, "")}\n${fence}\n${words}`;
}
