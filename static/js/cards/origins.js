// Where lines come from: by origin, with the call, the words that asked for it and the receipts.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { visible } from "../lib/format.js";
import { clock, day } from "../lib/time.js";
import { language, say, t } from "../i18n/translate.js";

/**
 * @typedef {{ranges: [number, number][], writer: "call" | "person" | "others" | "before" | "unknown",
 *   when: number, session: string, title: string, turn: number, call: string, tool: string, verb: any,
 *   about: string, asked: string, receipts: {command: string, state: string, said: any}[]}} Origin
 * @typedef {{kind: "origins", path: string, start: number, end: number, line: string, note: any,
 *   origins: Origin[]}} Origins
 */

const MAX_RANGES = 6;
const SIGNS = { green: "check", red: "alert", grey: "stop" };
const WRITERS = {
  person: () => t("you, in Onefold"),
  others: () => t("someone else, while no call was running"),
  before: () => t("older than the first saved state"),
  unknown: () => t("unknown: a state in between is no longer kept"),
};

/** @param {Origins} card @param {import("./cards.js").Host} host */
export function originsCard(card, host) {
  return h(
    "div",
    { class: "card-origins" },
    card.path && h("p", {}, fileButton(card, host)),
    card.line && h("pre", { class: "line", text: card.line.trim() }),
    h("ul", {}, ...card.origins.map((origin) => originRow(origin, card.origins.length > 1))),
    card.note && h("p", { class: "muted", text: say(card.note) }),
  );
}

function fileButton({ path, start, end }, host) {
  const last = start === end ? "" : `-${end}`;
  const words = start ? `${visible(path)}:${start}${last}` : visible(path);
  const open = () => host.openFile(path, start || undefined);
  return h("button", { type: "button", class: "link", on: { click: open } }, words);
}

/** @param {Origin} origin @param {boolean} hasLines */
function originRow(origin, hasLines) {
  return h(
    "li",
    { class: `by-${origin.writer}` },
    h(
      "p",
      { class: "who" },
      hasLines && origin.ranges.length > 0 && h("b", { text: `${rangesText(origin)} ` }),
      who(origin),
    ),
    origin.asked && h("p", { class: "asked", text: t("asked: {words}", { words: visible(origin.asked) }) }),
    origin.writer === "call" && h("p", { class: "muted", text: sessionText(origin) }),
    ...origin.receipts.map(receiptRow),
  );
}

function rangesText({ ranges }) {
  const shown = ranges.slice(0, MAX_RANGES).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  return shown.join(", ") + (ranges.length > MAX_RANGES ? " …" : "");
}

/** Who wrote the lines, and when. @param {Origin} origin */
export function who(origin) {
  const where = origin.writer === "call" ? callText(origin) : WRITERS[origin.writer]();
  if (!origin.when || ["before", "unknown"].includes(origin.writer)) return where;
  const when = `${day(origin.when, language)} ${clock(origin.when, language)}`;
  return t("{who} · {when}", { who: where, when });
}

function callText({ verb, about, turn }) {
  const name = about ? t("{verb} {about}", { verb: say(verb), about: visible(about) }) : say(verb);
  return t("{call} · turn {turn}", { call: name, turn });
}

function sessionText({ title, asked, session }) {
  if (!title && !asked) return t("session {id}: no longer kept", { id: session });
  return t("session: {title}", { title: visible(title) || session });
}

function receiptRow({ command, state, said }) {
  const words = t("receipt: {command} {said}", { command: visible(command.replace(/\s+/g, " ")), said: say(said) });
  return h("p", { class: `receipt ${state}` }, icon(SIGNS[state]), words);
}
