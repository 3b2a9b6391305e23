// Finds files by parts of their names. A worker knows and searches the names: a hundred thousand of
// them would hold up the page.

import { ApiError, unanswered } from "../net/api.js";

export class Finder {
  /** @type {Worker | null} */
  #worker = null;
  #questions = 0;
  /** @type {Map<number, {resolve: (paths: string[]) => void, reject: (refusal: ApiError) => void}>} */
  #waiting = new Map();

  /**
   * Returns the paths that fit best, the best first; if nothing is wanted, the first there are.
   * Raises `ApiError`.
   * @param {string} wanted
   * @param {number} most
   * @returns {Promise<string[]>}
   */
  find(wanted, most) {
    const id = (this.#questions += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker ??= this.#started();
      this.#worker.postMessage({ id, wanted, most });
    });
  }

  /** Has the files listed anew for the next question. */
  forget() {
    this.#worker?.postMessage({ forget: true });
  }

  #started() {
    const worker = new Worker(new URL("./finder_worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => this.#answered(data));
    worker.addEventListener("error", () => this.#failed());
    return worker;
  }

  #answered({ id, paths, refusal }) {
    const { resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (refusal) reject(new ApiError(refusal.status, refusal.body));
    else resolve(paths);
  }

  /** Its script could not be had: the next question starts another. */
  #failed() {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) reject(unanswered("no answer"));
    this.#waiting.clear();
  }
}
