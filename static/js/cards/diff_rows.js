// A unified diff as rows to draw, with the words that changed inside a line marked; pure.

/** @typedef {{text: string, marked: boolean}} Piece */
/** @typedef {{text: string, classes: string}} Token a part of a line in one colour */
/** @typedef {{kind: "hunk" | "same" | "added" | "removed" | "meta", old: number, new: number, text: string, pieces?: Piece[], tokens?: Token[]}} Row */

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;

/**
 * @param {string} diff without file headers
 * @returns {Row[]}
 */
export function diffRows(diff) {
  const rows = [];
  let before = 1;
  let after = 1;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      rows.push({ kind: "hunk", old: before, new: after, text: hunk[3].trim() });
    } else if (line.startsWith("+")) rows.push({ kind: "added", old: 0, new: after++, text: line.slice(1) });
    else if (line.startsWith("-")) rows.push({ kind: "removed", old: before++, new: 0, text: line.slice(1) });
    else if (line.startsWith("\\")) rows.push({ kind: "meta", old: 0, new: 0, text: line.slice(2) });
    else rows.push({ kind: "same", old: before++, new: after++, text: line.slice(1) });
  }
  return rows;
}

/**
 * Marks the changed words of lines that replace each other: a run of removed lines followed by as
 * many added ones.
 * @param {Row[]} rows
 * @param {(before: string, after: string) => {value: string, added?: boolean, removed?: boolean}[]} diffWords
 * @returns {Row[]}
 */
export function withWords(rows, diffWords) {
  const result = rows.slice();
  for (let at = 0; at < rows.length;) {
    const removed = run(rows, at, "removed");
    const added = run(rows, at + removed, "added");
    if (removed && removed === added && removed <= 40) {
      for (let each = 0; each < removed; each += 1)
        markPair(result, at + each, at + removed + each, diffWords);
    }
    at += Math.max(1, removed + added);
  }
  return result;
}

/** @param {Row[]} rows */
function run(rows, start, kind) {
  let end = start;
  while (rows[end]?.kind === kind) end += 1;
  return end - start;
}

function markPair(rows, removed, added, diffWords) {
  const [before, after] = [rows[removed].text, rows[added].text];
  if (before.length + after.length > 2000) return;
  const parts = diffWords(before, after);
  const same = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  if (same * 3 < Math.min(before.trim().length, after.trim().length)) return; // another line altogether
  const pieces = (skip, mark) =>
    parts.filter((part) => !part[skip]).map((part) => ({ text: part.value, marked: Boolean(part[mark]) }));
  rows[removed] = { ...rows[removed], pieces: pieces("added", "removed") };
  rows[added] = { ...rows[added], pieces: pieces("removed", "added") };
}

/**
 * Gives each line the tokens that it has in what was, or in what is.
 * @param {Row[]} rows
 * @param {(text: string) => Promise<Token[] | null>} tokensOf
 * @returns {Promise<Row[]>}
 */
export async function withTokens(rows, tokensOf) {
  const result = rows.slice();
  for (const kinds of [["same", "removed"], ["same", "added"]]) {
    const places = rows.flatMap(({ kind }, at) => (kinds.includes(kind) ? [at] : []));
    const tokens = await tokensOf(places.map((at) => rows[at].text).join("\n"));
    if (!tokens) return rows;
    linesOf(tokens).forEach((line, index) => {
      if (places[index] !== undefined) result[places[index]] = { ...result[places[index]], tokens: line };
    });
  }
  return result;
}

/** @param {Token[]} tokens @returns {Token[][]} */
function linesOf(tokens) {
  /** @type {Token[][]} */
  const lines = [[]];
  for (const { text, classes } of tokens)
    text.split("\n").forEach((part, index) => {
      if (index) lines.push([]);
      if (part) lines.at(-1)?.push({ text: part, classes });
    });
  return lines;
}

/**
 * The tokens of a line cut where what changed in it begins and ends.
 * @param {Row} row
 * @returns {(Piece & Token & {piece: number})[]} with the number of the piece that each is of
 */
export function cutTokens({ text, pieces = [{ text, marked: false }], tokens = [{ text, classes: "" }] }) {
  const cut = [];
  for (let piece = 0, token = 0, pieceAt = 0, tokenAt = 0; piece < pieces.length && token < tokens.length;) {
    const length = Math.min(pieces[piece].text.length - pieceAt, tokens[token].text.length - tokenAt);
    if (length > 0)
      cut.push({
        text: tokens[token].text.slice(tokenAt, tokenAt + length),
        classes: tokens[token].classes,
        marked: pieces[piece].marked,
        piece,
      });
    [pieceAt, tokenAt] = [pieceAt + length, tokenAt + length];
    if (pieceAt >= pieces[piece].text.length) [piece, pieceAt] = [piece + 1, 0];
    if (tokenAt >= tokens[token].text.length) [token, tokenAt] = [token + 1, 0];
  }
  return cut;
}

/**
 * The rows of two columns: what was and what is, side by side; a change of several lines pairs them
 * from its top.
 * @param {Row[]} rows
 * @returns {{left: Row | null, right: Row | null}[]} a row that is no line stands on both sides
 */
export function sideBySide(rows) {
  const pairs = [];
  for (let at = 0; at < rows.length;) {
    const removed = run(rows, at, "removed");
    const added = run(rows, at + removed, "added");
    for (let each = 0; each < Math.max(removed, added); each += 1)
      pairs.push({
        left: each < removed ? rows[at + each] : null,
        right: each < added ? rows[at + removed + each] : null,
      });
    if (!removed && !added) pairs.push({ left: rows[at], right: rows[at] });
    at += Math.max(1, removed + added);
  }
  return pairs;
}
