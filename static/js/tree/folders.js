// Lists folders part by part and keeps what is known of them true; knows nothing of how they show.

import { api } from "../net/api.js";
import { PART, emptyTree, foldersAbove, isOfOneOrder, listedOf, openIn } from "./tree_model.js";

const PAUSE = 60; // ms in which what changes is listed only once

export class Folders {
  tree = emptyTree();
  showsHidden = false;
  /** Rises for a folder whenever it is listed anew; parts asked for before are of no use then. */
  #rounds = new Map();
  #asked = new Set();
  /** By folder, the listing that is the last one begun, and the one that is soon to begin. */
  #listing = new Map();
  #relisting = new Map();

  /**
   * @param {object} host
   * @param {() => string} host.session whose focus is to be told
   * @param {() => void} host.changed there is something else to show
   * @param {(folder: string) => number[]} host.inSight the places of *folder* that are shown
   * @param {(isEmpty: boolean) => void} host.listed the project itself was listed
   * @param {() => void} host.failed the project itself could not be listed
   */
  constructor(host) {
    this.host = host;
  }

  /** The folders whose entries show. */
  get open() {
    const { listed, open } = this.tree;
    return ["", ...[...listed.keys()].filter((folder) => folder && open.has(folder))];
  }

  /** @param {string} folder */
  expand(folder) {
    this.tree.open.add(folder);
    if (!this.tree.listed.has(folder)) this.list(folder);
  }

  /** @param {string} folder */
  collapse(folder) {
    this.tree.open.delete(folder);
  }

  /** @param {boolean} showsHidden */
  show(showsHidden) {
    this.showsHidden = showsHidden;
    this.relistAll();
  }

  /**
   * Asks for the part of *folder* that holds *place*, unless that is under way.
   * @param {string} folder
   * @param {number} place
   */
  async need(folder, place) {
    const start = Math.floor(place / PART) * PART;
    const key = `${start} ${folder}`;
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    const round = this.#rounds.get(folder);
    const part = await this.#part(folder, { start });
    this.#asked.delete(key);
    if (!part) return;
    if (round !== this.#rounds.get(folder)) this.host.changed(); // who looks there asks again
    else if (!isOfOneOrder(this.tree.listed.get(folder), part)) this.relist(folder);
    else this.#learn(folder, [part]);
  }

  /** Sees to it that *name* in *folder* is known. */
  async reach(folder, name) {
    this.tree.open.add(folder);
    if (this.tree.listed.get(folder)?.places.has(name)) return;
    const round = this.#rounds.get(folder);
    const part = await this.#part(folder, { around: name });
    if (!part) return;
    this.#learn(folder, [part]);
    if (round !== this.#rounds.get(folder)) this.relist(folder); // that may be newer
  }

  /** Lists *folder* anew, as far as it shows; done when no later listing is under way. */
  list(folder) {
    const listing = this.#list(folder);
    this.#listing.set(folder, listing);
    return listing;
  }

  async #list(folder) {
    const round = (this.#rounds.get(folder) ?? 0) + 1;
    this.#rounds.set(folder, round);
    const parts = await Promise.all(this.#starts(folder).map((start) => this.#part(folder, { start })));
    if (round !== this.#rounds.get(folder)) return this.#listing.get(folder);
    const came = parts.filter(Boolean);
    if (came.length) {
      this.tree.listed.delete(folder);
      this.#learn(folder, came);
      if (!came.every((part) => isOfOneOrder(part, came[0]))) this.relist(folder);
    } else {
      if (folder && !this.tree.listed.has(folder)) this.collapse(folder); // to be tried again
      this.host.changed();
    }
  }

  #starts(folder) {
    const places = [0, ...this.host.inSight(folder), ...openIn(this.tree, folder).map(({ place }) => place)];
    return [...new Set(places.map((place) => Math.floor(place / PART) * PART))];
  }

  #learn(folder, parts) {
    const listed = listedOf(parts, this.tree.listed.get(folder));
    this.tree.listed.set(folder, listed);
    if (folder === "") this.host.listed(!listed.total);
    this.host.changed();
  }

  async #part(folder, where) {
    const hidden = this.showsHidden ? 1 : 0;
    try {
      return await api.folder(folder, this.host.session(), { count: PART, hidden, ...where });
    } catch (refusal) {
      if (refusal.status === 404) {
        this.tree.listed.delete(folder);
        this.tree.open.delete(folder);
      } else if (folder === "") this.host.failed();
      return null;
    }
  }

  // --- what changes --------------------------------------------------------------------------------

  relistAll() {
    for (const folder of this.tree.listed.keys())
      if (folder && !this.tree.open.has(folder)) this.tree.listed.delete(folder);
    for (const folder of this.tree.open) this.relist(folder);
  }

  /** Lists *folder* anew, soon and only once. */
  relist(folder) {
    const due =
      this.#relisting.get(folder) ??
      new Promise((over) => setTimeout(over, PAUSE)).then(() => {
        this.#relisting.delete(folder);
        return this.list(folder);
      });
    this.#relisting.set(folder, due);
    return due;
  }

  /** Done when it shows. @param {string[]} folders what something happened in; "*" is any */
  async happened(folders) {
    if (folders.includes("*")) return this.relistAll();
    // Also those above: the badges of folders tell of what is below.
    const touched = new Set(folders.flatMap((folder) => [folder, ...foldersAbove(folder)]));
    const shown = [...this.tree.open].filter((folder) => touched.has(folder));
    for (const folder of folders) if (!this.tree.open.has(folder)) this.tree.listed.delete(folder);
    await Promise.all(shown.map((folder) => this.relist(folder)));
  }
}
