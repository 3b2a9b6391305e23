// The file tree as data: what is known of folders that were listed, and the rows that makes; pure.
// A folder may be so large that only parts of it are known; every row has its place all the same.

/**
 * @typedef {{name: string, kind: string, size: number, modified: number, ignored: boolean, git: string,
 *   note: string, line_notes: string, focus: boolean, written: number | null}} Entry
 */
/**
 * The entries of a folder by their place in it, and the places by their names.
 * @typedef {{total: number, order?: string, entries: Map<number, Entry>, places: Map<string, number>}} Listed
 */
/** @typedef {{listed: Map<string, Listed>, open: Set<string>}} Tree */
/**
 * One row; `path` is "" and `entry` null when that part of `folder` is not known yet.
 * @typedef {{path: string, folder: string, depth: number, entry: Entry | null, isOpen: boolean,
 *   isLoading: boolean, place: number, siblings: number, isFound?: boolean}} Row
 */
/** @typedef {{count: number, at: (index: number) => Row, indexOf: (path: string) => number}} Rows */

/** Entries that are asked for at once. */
export const PART = 500;

/** @returns {Tree} */
export const emptyTree = () => ({ listed: new Map(), open: new Set([""]) });

/** @param {string} folder @param {string} name */
export const joined = (folder, name) => (folder ? `${folder}/${name}` : name);

const above = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** @param {string} path */
export function foldersAbove(path) {
  const parts = path.split("/").slice(0, -1);
  return ["", ...parts.map((_, index) => parts.slice(0, index + 1).join("/"))];
}

/**
 * Puts parts of one folder together; *known* itself grows by them, for a copy took longer with every part.
 * @param {{start: number, total: number, order?: string, entries: Entry[]}[]} parts the last has the say
 * @param {Listed} [known] what stays, if it is of the same order
 * @returns {Listed}
 */
export function listedOf(parts, known) {
  const last = parts.at(-1);
  const { total, order } = last;
  const listed = isOfOneOrder(known, last) ? known : { total, order, entries: new Map(), places: new Map() };
  for (const part of parts) {
    if (!isOfOneOrder(part, last)) continue;
    part.entries.forEach((entry, index) => {
      listed.entries.set(part.start + index, entry);
      listed.places.set(entry.name, part.start + index);
    });
  }
  return listed;
}

/** Tells whether *one* and *other* have the same names in the same places. */
export const isOfOneOrder = (one, other) => one?.total === other.total && one.order === other.order;

/**
 * The open folders of *folder* that are known, from the top.
 * @param {Tree} tree
 * @param {string} folder
 * @returns {{path: string, place: number}[]}
 */
export function openIn(tree, folder) {
  const listed = tree.listed.get(folder);
  if (!listed) return [];
  const found = [];
  for (const path of tree.open) {
    if (!path || above(path) !== folder) continue;
    const place = listed.places.get(path.slice(folder ? folder.length + 1 : 0));
    if (place !== undefined && listed.entries.get(place).kind === "folder") found.push({ path, place });
  }
  return found.sort((one, other) => one.place - other.place);
}

/**
 * The rows of *tree*, none of which is made before it is asked for.
 * @param {Tree} tree
 * @returns {Rows}
 */
export function rowsOf(tree) {
  /** @type {Map<string, {start: number, children: any[]}>} */
  const folders = new Map();
  const root = branch(tree, "", 1, 0, folders);
  return {
    count: root.size,
    at: (index) => rowIn(tree, root, index),
    indexOf(path) {
      const folder = folders.get(above(path));
      const place = tree.listed.get(above(path))?.places.get(path.slice(path.lastIndexOf("/") + 1));
      if (!folder || place === undefined) return -1;
      const before = folder.children.filter((child) => child.place < place);
      return folder.start + place + before.reduce((sum, child) => sum + child.size, 0);
    },
  };
}

/** A folder as it stands in the rows: *start* is where its first entry does, *size* all its rows. */
function branch(tree, path, depth, start, folders) {
  const total = tree.listed.get(path)?.total ?? 0;
  const children = [];
  folders.set(path, { start, children });
  let inside = 0;
  for (const { path: child, place } of openIn(tree, path)) {
    const grown = branch(tree, child, depth + 1, start + place + inside + 1, folders);
    children.push({ ...grown, place, row: place + inside });
    inside += grown.size;
  }
  return { path, depth, total, size: total + inside, children };
}

function rowIn(tree, folder, index) {
  const child = lastBefore(folder.children, index);
  if (child && index <= child.row + child.size) return rowIn(tree, child, index - child.row - 1);
  const place = child ? index - (child.row - child.place) - child.size : index;
  return row(tree, folder, place);
}

/** The last of *children* whose own row stands before *index*. */
function lastBefore(children, index) {
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (children[middle].row < index) low = middle + 1;
    else high = middle;
  }
  return children[low - 1];
}

function row(tree, { path: folder, depth, total }, place) {
  const entry = tree.listed.get(folder).entries.get(place) ?? null;
  const path = entry ? joined(folder, entry.name) : "";
  const isOpen = entry?.kind === "folder" && tree.open.has(path);
  const isLoading = isOpen && !tree.listed.has(path);
  return { path, folder, depth, entry, isOpen, isLoading, place: place + 1, siblings: total };
}

/** The entry of a file that was only found by its name. */
const UNKNOWN = {
  kind: "file",
  size: 0,
  modified: 0,
  ignored: false,
  git: "",
  note: "",
  line_notes: "",
  focus: false,
  written: null,
};

/**
 * Rows for paths that were searched for.
 * @param {string[]} paths
 * @returns {Rows}
 */
export function rowsOfFound(paths) {
  const at = (index) => {
    const path = paths[index];
    const name = path.slice(path.lastIndexOf("/") + 1);
    return {
      path,
      folder: above(path),
      depth: 1,
      entry: { ...UNKNOWN, name },
      isOpen: false,
      isLoading: false,
      place: index + 1,
      siblings: paths.length,
      isFound: true,
    };
  };
  return { count: paths.length, at, indexOf: (path) => paths.indexOf(path) };
}
