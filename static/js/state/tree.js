// The file tree as data: folders that were listed, and the rows to show; pure.

/** @typedef {{name: string, kind: string, size: number, modified: number, ignored: boolean, git: string, note: string, focus: boolean, written: number | null}} Entry */
/** @typedef {{path: string, depth: number, entry: Entry, isOpen: boolean, isLoading: boolean, place: number, siblings: number}} Row */
/** @typedef {{listed: Map<string, Entry[]>, open: Set<string>, showsHidden: boolean}} Tree */

/** @returns {Tree} */
export const emptyTree = () => ({ listed: new Map(), open: new Set([""]), showsHidden: false });

/** @param {string} folder @param {string} name */
export const joined = (folder, name) => (folder ? `${folder}/${name}` : name);

/** @param {Entry} entry */
const isHidden = (entry) => entry.ignored || entry.name.startsWith(".");

/**
 * @param {Tree} tree
 * @returns {Row[]} what is to be seen, from the top
 */
export function visibleRows(tree) {
  const rows = [];
  const walk = (folder, depth) => {
    const all = tree.listed.get(folder) ?? [];
    const shown = tree.showsHidden ? all : all.filter((entry) => !isHidden(entry));
    shown.forEach((entry, index) => {
      const path = joined(folder, entry.name);
      const isOpen = entry.kind === "folder" && tree.open.has(path);
      const isLoading = isOpen && !tree.listed.has(path);
      rows.push({ path, depth, entry, isOpen, isLoading, place: index + 1, siblings: shown.length });
      if (isOpen) walk(path, depth + 1);
    });
  };
  walk("", 1);
  return rows;
}

/** @param {string} path */
export function foldersAbove(path) {
  const parts = path.split("/").slice(0, -1);
  return ["", ...parts.map((_, index) => parts.slice(0, index + 1).join("/"))];
}

/**
 * The paths that have all words of *wanted* in their order, names first, short ones first.
 * @param {string[]} paths
 * @param {string} wanted
 * @param {number} most
 */
export function matching(paths, wanted, most = 300) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = [];
  for (const path of paths) {
    const score = scored(path.toLowerCase(), words);
    if (score >= 0) found.push({ path, score });
  }
  found.sort(
    (one, other) =>
      one.score - other.score || one.path.length - other.path.length || (one.path < other.path ? -1 : 1),
  );
  return found.slice(0, most).map((each) => each.path);
}

/** Returns how far the name of *path* is from the words: the less the better; -1: not at all. */
function scored(path, words) {
  if (!words.every((word) => path.includes(word))) return -1;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(words[0])) return 0;
  return name.includes(words[0]) ? 1 : 2;
}
