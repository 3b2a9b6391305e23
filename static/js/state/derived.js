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

/** @typedef {{key: string, diff: string, added: number, removed: number, turn: number}} Edit */
/** @typedef {{path: string, kind: string, edits: Edit[], added: number, removed: number}} ChangedFile */

/**
 * The files that calls of this picture changed, the last changed first.
 * @param {Item[]} items
 * @returns {ChangedFile[]}
 */
export function changedFiles(items) {
  /** @type {Map<string, ChangedFile>} */
  const files = new Map();
  let turn = 0;
  for (const item of items) {
    if (item.kind === "person") turn = item.turn;
    if (item.kind === "call" && item.state === "done") note(files, item, turn);
  }
  return [...files.values()].reverse();
}

function note(files, call, turn) {
  const touch = (path, kind) => {
    const file = files.get(path) ?? { path, kind, edits: [], added: 0, removed: 0 };
    files.delete(path); // so that it comes last
    files.set(path, { ...file, kind: file.kind === "created" && kind === "modified" ? "created" : kind });
    return files.get(path);
  };
  for (const change of [...(call.changes ?? []), ...(call.card?.changes ?? [])]) {
    if (change.kind === "renamed") files.delete(change.path);
    touch(change.new_path || change.path, change.kind);
  }
  if (call.card?.kind !== "diff") return;
  const { path, diff, added, removed } = call.card;
  const file = touch(path, files.get(path)?.kind ?? (call.name === "create_file" ? "created" : "modified"));
  file.edits = [...file.edits, { key: call.key, diff, added, removed, turn }];
  file.added += added;
  file.removed += removed;
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
