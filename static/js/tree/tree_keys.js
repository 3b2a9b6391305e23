// The tree by keyboard, as the ARIA practices describe it.

import { folderOf } from "../lib/format.js";

/**
 * @param {import("./tree_rows.js").TreeRows} view
 * @param {object} acts
 * @param {(row: any) => void} acts.activate
 * @param {(row: any, open: boolean) => void} acts.toggle
 * @param {(index: number) => void} acts.moveTo
 * @param {(row: any) => void} acts.menu
 * @param {(row: any) => void} acts.rename
 */
export function treeKeys(view, acts) {
  view.element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (pressed(event, view, acts)) event.preventDefault();
  });
}

/** Returns whether the key meant something. */
function pressed(event, view, acts) {
  const index = view.currentIndex;
  const row = view.row(view.current);
  const moves = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: view.page,
    PageUp: -view.page,
    Home: -view.rows.count,
    End: view.rows.count,
  };
  if (event.key in moves) acts.moveTo(index + moves[event.key]);
  else if (event.key.length === 1 && /\S/.test(event.key)) typed(event.key, index, view, acts);
  else return row !== undefined && pressedOn(row, index, event, view, acts);
  return true;
}

function pressedOn(row, index, event, view, acts) {
  const isMenu = event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey);
  if (event.key === "ArrowRight" && row.entry.kind === "folder")
    row.isOpen ? acts.moveTo(index + 1) : acts.toggle(row, true);
  else if (event.key === "ArrowLeft")
    row.isOpen ? acts.toggle(row, false) : moveOut(row, index, view, acts);
  else if (event.key === "Enter" || event.key === " ") acts.activate(row);
  else if (isMenu) acts.menu(row);
  else if (event.key === "F2") acts.rename(row);
  else return false;
  return true;
}

function moveOut(row, index, view, acts) {
  const outer = view.rows.indexOf(folderOf(row.path));
  acts.moveTo(outer < 0 ? index : outer);
}

/** Goes to the next name that begins with *letter*, among those that are known. */
function typed(letter, index, view, acts) {
  const { count } = view.rows;
  for (let step = 1; step <= count; step += 1) {
    const at = (index + step) % count;
    if (view.rows.at(at).entry?.name.toLowerCase().startsWith(letter.toLowerCase())) {
      acts.moveTo(at);
      return;
    }
  }
}
