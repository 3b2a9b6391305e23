// Symbols of the project, asked of the server: those of a large one come in parts, as they are read.

import { request } from "../net/api.js";

/** @typedef {{name: string, kind: string, path: string, line: number}} Symbol_ */

const FEWEST = 2; // letters for which symbols are looked for
const MOST = 12;

/** What is known of the symbols for the words that are wanted now. */
export class Symbols {
  #words = "";
  /** @type {Symbol_[]} */
  #found = [];
  /** @type {Promise<void>} */
  #asked = Promise.resolve();

  /**
   * @param {import("../app.js").App} app
   * @param {() => void} more is called when there are others for the words that were last wanted
   */
  constructor(app, more) {
    this.app = app;
    this.more = more;
  }

  /** Wants those for *words*; `more` tells when they are there. @param {string} words @returns {Symbol_[]} */
  wanted(words) {
    const now = words.trim();
    if (now !== this.#words) {
      this.#words = now;
      this.#found = [];
      this.#asked = now.length < FEWEST ? Promise.resolve() : this.#ask(now);
    }
    return this.#found;
  }

  /** Those for the words that were last wanted, once the server has answered. */
  async first() {
    await this.#asked;
    return this.#found;
  }

  /** Forgets the words: answers to come say nothing. */
  end() {
    this.#words = "";
  }

  async #ask(words) {
    const unread = await this.#take(words);
    if (unread) void this.#askOn(words, unread);
  }

  /** Asks on while the server still reads files. */
  async #askOn(words, unread) {
    for (let left = unread, before = Infinity; left && left < before;) {
      before = left;
      left = await this.#take(words);
    }
  }

  /** @returns {Promise<number>} how many files the server has not read so far */
  async #take(words) {
    if (words !== this.#words) return 0;
    const answer = await this.app.attempt(() => request("GET", "/api/symbols", { query: { query: words, limit: MOST } }));
    if (!answer || words !== this.#words) return 0;
    this.#found = answer.symbols;
    this.more();
    return answer.unread;
  }
}
