// What the views show of a picture: groups of calls, changed files, the open question; pure.

/** @typedef {import("./reducer.js").Item} Item */
/** @typedef {import("./reducer.js").Picture} Picture */

const LOOKING = new Set(["list_files", "read_file", "find_files", "search_text"]);

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
  LOOKING.has(item.name) &&
  !item.question &&
  (item.state === "running" || item.state === "done");

/**
 * How many different files and places a group of calls looked at.
 * @param {any[]} calls
 */
export function explored(calls) {
  const files = new Set(calls.filter((call) => call.name === "read_file").map((call) => call.arguments.path));
  return {
    files: files.size,
    searches: calls.filter((call) => call.name === "search_text" || call.name === "find_files").length,
    folders: calls.filter((call) => call.name === "list_files").length,
  };
}

/** @typedef {{number: number, undone: boolean}} Undoable */
/** @type {WeakMap<object, {item: any, known: string}>} */
const MARKED = new WeakMap();

/**
 * Gives calls and ends of turns that changed files their `undoable`; what is known already stays
 * the same object.
 * @param {Item[]} items
 * @param {import("../net/marks.js").Mark[]} marks
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

function withMark(item, number, undone) {
  const known = `${number} ${undone}`;
  if (MARKED.get(item)?.known !== known)
    MARKED.set(item, { item: { ...item, undoable: { number, undone } }, known });
  return MARKED.get(item).item;
}

/**
 * The first question that waits for an answer.
 * @param {Item[]} items
 * @param {string[]} asked ids of calls, from the session's state
 */
export function openQuestion(items, asked) {
  return items.find((item) => item.kind === "call" && item.question && asked.includes(item.id)) ?? null;
}

/**
 * The newest plan of the model, or null.
 * @param {Item[]} items
 */
export function newestTodos(items) {
  const call = items.findLast((item) => item.kind === "call" && item.card?.kind === "todo");
  return call ? call.card.todos : null;
}

/** @param {any} usage */
export function cacheShare(usage) {
  const read = usage.cache_hit_tokens + usage.cache_miss_tokens;
  return read ? usage.cache_hit_tokens / read : null;
}

/**
 * Sessions by the day they were last used.
 * @template {{updated: number}} Row
 * @param {Row[]} rows newest first
 * @param {(row: Row) => string} dayOf
 * @returns {{day: string, rows: Row[]}[]}
 */
export function byDay(rows, dayOf) {
  const days = [];
  for (const row of rows) {
    const day = dayOf(row);
    if (days.at(-1)?.day !== day) days.push({ day, rows: [] });
    days.at(-1).rows.push(row);
  }
  return days;
}
