// Selectors: what the views show of the state, as rows of sessions and the open question; pure.

/** @typedef {import("./reducer.js").Item} Item */
/** @typedef {import("./reducer.js").Transcript} Transcript */

/**
 * The first question that waits for an answer.
 * @param {Item[]} items
 * @param {string[]} asked ids of calls, from the session's state
 */
export function openQuestion(items, asked) {
  return items.find((item) => item.kind === "call" && item.question && asked.includes(item.id)) ?? null;
}

/** @param {any} usage */
export function cacheShare(usage) {
  const read = usage.cache_hit_tokens + usage.cache_miss_tokens;
  return read ? usage.cache_hit_tokens / read : null;
}

/** @param {{updated: number}} one @param {{updated: number}} other */
export const newestFirst = (one, other) => other.updated - one.updated;

/**
 * The rows of sessions after some were listed; what was told of one meanwhile is newer.
 * @template {{id: string, updated: number, archived?: any}} Row
 * @param {Row[]} before that were known when the list was asked for
 * @param {Row[]} now
 * @param {Row[]} listed
 * @param {number} [archived] which of them were asked for; the others stay
 * @returns {Row[]} newest first
 */
export function listedRows(before, now, listed, archived = 0) {
  const [had, has, lists] = [before, now, listed].map((rows) => new Map(rows.map((row) => [row.id, row])));
  const fresh = listed.filter(({ id }) => had.get(id) === has.get(id));
  const isKept = (row) =>
    had.get(row.id) !== row || (!lists.has(row.id) && Boolean(row.archived) !== Boolean(archived));
  return [...now.filter(isKept), ...fresh].sort(newestFirst);
}
