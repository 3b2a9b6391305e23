// What the conversation shows of the items of a session: joined, and with what is known of them
// from elsewhere; pure.

import { specOf } from "../store/declared.js";

/** @typedef {import("../store/reducer.js").Item} Item */

/**
 * The items as the conversation shows them; what is known already stays the same object.
 * @param {Item[]} items
 * @param {import("../store/undo_marks.js").Mark[]} marks
 */
export const shown = (items, marks) => grouped(marked(aged(items), marks));

/**
 * Joins calls that only looked and stand in a row to one group; its key is that of the first, so
 * it stays the same view while it grows.
 * @param {Item[]} items
 * @returns {(Item | {key: string, kind: "group", calls: any[]})[]}
 */
export function grouped(items) {
  const result = [];
  for (let at = 0; at < items.length;) {
    let end = at;
    while (end < items.length && isLook(items[end])) end += 1;
    if (end > at) result.push({ key: `g${items[at].key}`, kind: "group", calls: items.slice(at, end) });
    else result.push(items[end++]);
    at = end;
  }
  return result;
}

const isLook = (item) =>
  item.kind === "call" &&
  specOf(item.name)?.explores &&
  !item.question &&
  (item.state === "running" || item.state === "done");

/**
 * How many different files and places a group of calls looked at.
 * @param {any[]} calls
 */
export function explored(calls) {
  const those = (what) => calls.filter((call) => specOf(call.name)?.explores === what);
  return {
    files: new Set(those("files").map((call) => call.arguments.path)).size,
    searches: those("searches").length,
    folders: those("folders").length,
  };
}

/** @typedef {{number: number, undone: boolean}} Undoable */
/** @type {WeakMap<object, {item: any, known: string}>} */
const MARKED = new WeakMap();

/**
 * Gives calls and ends of turns that changed files their `undoable`; what is known already stays
 * the same object.
 * @param {Item[]} items
 * @param {import("../store/undo_marks.js").Mark[]} marks
 * @returns {any[]}
 */
export function marked(items, marks) {
  if (!marks.length) return items;
  const calls = new Map(marks.map((mark) => [`${mark.turn} ${mark.call_id}`, mark]));
  const turns = new Map();
  for (const { turn, undone } of marks) turns.set(turn, (turns.get(turn) ?? true) && undone);
  let turn = 0;
  return items.map((item) => {
    if (item.kind === "person") turn = item.turn;
    const mark = item.kind === "call" ? calls.get(`${turn} ${item.id}`) : null;
    if (mark) return withMark(item, mark.number, mark.undone);
    if (item.kind !== "end" || !turns.has(item.turn)) return item;
    return withMark(item, item.turn, turns.get(item.turn));
  });
}

/** @type {WeakMap<object, any>} */
const PAST = new WeakMap();

/**
 * Says of the ends of turns that the talk went on after them: `isPast`; all else stays as it is.
 * @param {Item[]} items
 * @returns {any[]}
 */
export function aged(items) {
  const last = items.findLastIndex(({ kind }) => !["command", "warning", "info"].includes(kind));
  return items.map((item, index) => (item.kind === "end" && index < last ? past(item) : item));
}

function past(item) {
  if (!PAST.has(item)) PAST.set(item, { ...item, isPast: true });
  return PAST.get(item);
}

function withMark(item, number, undone) {
  const known = `${number} ${undone}`;
  if (MARKED.get(item)?.known !== known)
    MARKED.set(item, { item: { ...item, undoable: { number, undone } }, known });
  return MARKED.get(item).item;
}

/** Groups that did not change stay the same objects, so that their views are left alone. */
export function stable(before, now) {
  const known = new Map((before ?? []).map((item) => [item.key, item]));
  return now.map((item) => {
    const old = known.get(item.key);
    const isSame =
      item.kind === "group" &&
      old?.calls.length === item.calls.length &&
      old.calls.every((call, index) => call === item.calls[index]);
    return isSame ? old : item;
  });
}
