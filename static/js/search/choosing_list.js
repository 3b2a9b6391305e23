// A field and what fits the words in it, to be chosen from by arrows, Enter or a click.

import { h } from "../lib/dom.js";
import { typedAhead } from "../keyboard/type_ahead.js";

let lists = 0;

/**
 * @template T
 * @param {{
 *   name: string,
 *   none: string,
 *   find: (words: string) => T[] | Promise<T[]>,
 *   draw: (found: T) => any[],
 *   choose: (chosen: T | undefined, words: string) => void,
 * }} of *none* is said where nothing fits; *choose* gets undefined then
 */
export function choosingList({ name, none, find, draw, choose }) {
  const id = `choice-${(lists += 1)}`;
  const field = h("input", {
    type: "search",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": id,
    "aria-label": name,
    placeholder: name,
    spellcheck: "false",
    on: { input: () => search(), keydown: (event) => key(event) },
  });
  const list = h("ul", { id, role: "listbox", "aria-label": name });
  const nothing = h("p", { class: "muted nothing", role: "status", hidden: true, text: none });
  let found = [];
  let chosen = 0;
  let searches = 0;
  let shownFor = "";
  let searching = Promise.resolve();

  function drawAll() {
    list.replaceChildren(
      ...found.map((one, index) =>
        h(
          "li",
          {
            role: "option",
            id: `${id}-${index}`,
            "aria-selected": String(index === chosen),
            on: { click: () => choose(one, field.value) },
          },
          ...draw(one),
        ),
      ),
    );
    list.hidden = !found.length;
    nothing.hidden = found.length > 0;
    if (found.length) field.setAttribute("aria-activedescendant", `${id}-${chosen}`);
    else field.removeAttribute("aria-activedescendant");
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  }

  async function look() {
    const number = (searches += 1);
    const words = field.value;
    const now = await find(words);
    if (number !== searches) return; // something else is wanted meanwhile
    found = now;
    chosen = words === shownFor ? Math.min(chosen, Math.max(found.length - 1, 0)) : 0;
    shownFor = words;
    drawAll();
  }

  /** Looks for the words anew; for the same ones the choice stays where it is. */
  function search() {
    searching = look();
  }

  /** Waits until all is found for the words as they are now. */
  async function searched() {
    for (let last = null; last !== searching;) await (last = searching);
    return true;
  }

  function chooseFound() {
    if (field.isConnected) choose(found[chosen], field.value);
    return undefined;
  }

  function key(event) {
    if (event.isComposing || event.keyCode === 229) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && found.length) {
      event.preventDefault();
      chosen = (chosen + by + found.length) % found.length;
      drawAll();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    void typedAhead(searched(), chooseFound);
  }
  search();
  return { field, element: h("div", {}, list, nothing), search };
}
