// Finding files by parts of their names, quick for a hundred thousand; pure.

/** @type {WeakMap<string[], string[]>} the same paths in small letters */
const lowered = new WeakMap();

function smallLetters(paths) {
  const known = lowered.get(paths) ?? paths.map((path) => path.toLowerCase());
  lowered.set(paths, known);
  return known;
}

/**
 * The paths that have all words of *wanted*, names first, short ones first, else in their order.
 * @param {string[]} paths must not be changed afterwards
 * @param {string} wanted
 * @param {number} most
 */
export function matching(paths, wanted, most = 300) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const small = smallLetters(paths);
  /** @type {Map<number, string[]>} by how far they are from the words: no sorting of all that fits */
  const found = new Map();
  for (let index = 0; index < paths.length; index += 1) {
    const score = scored(small[index], words);
    if (score < 0) continue;
    const group = found.get(score);
    if (group) group.push(paths[index]);
    else found.set(score, [paths[index]]);
  }
  const best = [];
  for (const score of [...found.keys()].sort((one, other) => one - other)) {
    best.push(...found.get(score).slice(0, most - best.length));
    if (best.length >= most) break;
  }
  return best;
}

const LONGEST = 10_000; // no path is as long

/** Returns how far *path* is from the words: the less the better; -1: not at all. */
function scored(path, words) {
  if (!words.every((word) => path.includes(word))) return -1;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const place = name.startsWith(words[0]) ? 0 : name.includes(words[0]) ? 1 : 2;
  return place * LONGEST + path.length;
}
