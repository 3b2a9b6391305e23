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

const CONFLICT = new RegExp(`^${START}\\n([\\s\\S]*?)^${MIDDLE}\\n([\\s\\S]*?)^${END}(?:\\n|$)`, "gm");

/**
 * @param {string} text
 * @returns {Conflict[]}
 */
export function conflicts(text) {
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
