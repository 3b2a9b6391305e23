// Three-way merge of texts by lines; where both sides changed the same lines, conflict marks.

const START = "<<<<<<< yours";
const MIDDLE = "=======";
const END = ">>>>>>> on disk";

/** @typedef {{from: number, to: number, mine: string, theirs: string}} Conflict offsets into the text */

/**
 * @param {string} mine
 * @param {string} base
 * @param {string} theirs
 * @param {(a: string[], o: string[], b: string[]) => any[]} diff3 node-diff3's `diff3Merge`
 * @returns {{text: string, conflicts: number}} nothing of either side is left out
 */
export function merge(mine, base, theirs, diff3) {
  const [a, o, b] = [mine, base, theirs].map((text) => text.split("\n"));
  const lines = [];
  let conflicts = 0;
  for (const region of diff3(a, o, b)) {
    if (region.ok) lines.push(...region.ok);
    else {
      conflicts += 1;
      lines.push(START, ...region.conflict.a, MIDDLE, ...region.conflict.b, END);
    }
  }
  return { text: lines.join("\n"), conflicts };
}

/**
 * @param {string} base
 * @param {string} text what was made of it
 * @param {(a: string[], b: string[]) => {buffer1: number[], buffer2: number[]}[]} diff node-diff3's `diffIndices`
 * @returns {number[]} where each line of the base is in the text, from 1; 0: nowhere
 */
export function linesOf(base, text, diff) {
  const [a, b] = [base, text].map((one) => one.split("\n"));
  const places = [];
  const common = (end, line) => {
    while (places.length < end) places.push(line++);
  };
  let line = 1;
  for (const { buffer1: [from, count], buffer2: [to, added] } of diff(a, b)) {
    common(from, line);
    for (let n = 0; n < count; n += 1) places.push(0);
    line = to + added + 1;
  }
  common(a.length, line);
  return places;
}

const CONFLICT = new RegExp(`^${START}\\n([\\s\\S]*?)^${MIDDLE}\\n([\\s\\S]*?)^${END}(?:\\n|$)`, "gm");

/**
 * @param {string} text
 * @returns {Conflict[]}
 */
export function conflicts(text) {
  if (!text.includes(START)) return []; // at each key: a tenth of the time of the expression
  return [...text.matchAll(CONFLICT)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
    mine: match[1],
    theirs: match[2],
  }));
}

/**
 * @param {Conflict} conflict
 * @param {"mine" | "theirs" | "both"} choice
 */
export function settled(conflict, choice) {
  if (choice === "mine") return conflict.mine;
  return choice === "theirs" ? conflict.theirs : conflict.mine + conflict.theirs;
}
