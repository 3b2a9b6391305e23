// The conversation in chunks of some turns: the browser passes over a chunk that is out of sight as
// a whole, so that a long session costs what is seen of it.

import { h, keyed } from "../lib/dom.js";

const TURNS = 8; // of a chunk
const ITEMS = 40; // of one turn in a chunk
const HEIGHT = 88; // pixels that an item is taken for until it was in sight

/** @typedef {{key: string, items: any[]}} Chunk */

/**
 * Cuts *items* where they are cut again when earlier turns come before them; chunks that did not
 * change stay the same objects as in *before*.
 * @param {Chunk[]} before
 * @param {any[]} items
 * @returns {Chunk[]}
 */
export function chunked(before, items) {
  const known = new Map(before.map((chunk) => [chunk.key, chunk]));
  return cut(items).map((chunk) => {
    const old = known.get(chunk.key);
    const isSame = old?.items.length === chunk.items.length && chunk.items.every((item, at) => item === old.items[at]);
    return old && isSame ? old : chunk;
  });
}

/** @param {any[]} items @returns {Chunk[]} */
function cut(items) {
  const chunks = [];
  const open = (key) => chunks.push({ key, items: [] });
  let [turn, group, count] = [0, NaN, 0];
  for (const item of items) {
    const isTurn = item.kind === "person";
    count = isTurn ? 0 : count + 1;
    if (isTurn) turn = item.turn;
    const now = Math.floor(turn / TURNS);
    if (now !== group) open(`${now}`);
    else if (isTurn && chunks.at(-1).key.includes("/")) open(`${turn}/`); // a turn that was cut has chunks of its own
    else if (count && count % ITEMS === 0) open(`${turn}/${count / ITEMS}`);
    group = now;
    chunks.at(-1).items.push(item);
  }
  return chunks;
}

/**
 * Returns what draws items into *list*.
 * @param {Element} list
 * @param {(item: any) => {element: Element, update?: (item: any) => void, leave?: () => void}} view of one
 * @returns {(items: any[]) => void}
 */
export function chunkList(list, view) {
  const chunks = keyed(
    list,
    ({ key }) => key,
    (chunk) => chunkView(chunk, view),
  );
  /** @type {Chunk[]} */
  let drawn = [];
  return (items) => {
    drawn = chunked(drawn, items);
    chunks(drawn);
  };
}

function chunkView(chunk, view) {
  const element = h("div", { class: "chunk" });
  const items = keyed(element, (item) => item.key, view);
  const update = (changed) => {
    element.style.containIntrinsicBlockSize = `auto ${HEIGHT * changed.items.length}px`;
    items(changed.items);
  };
  update(chunk);
  return { element, update };
}
