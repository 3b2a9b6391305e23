// What is known, and who shows it: views are called when it changes, and send one another messages.

import { say } from "../i18n/translate.js";

const LATEST = 300; // ms; a page in the background has no frames

export class Board {
  /** @type {any} never changed, but replaced */
  known = { notices: [] };
  #views = new Set();
  #bus = new EventTarget();
  #isDue = false;
  #notices = 0;

  /**
   * @param {(known: any) => void} view is called at once, then at most once a frame, when something changed
   * @returns {() => void} ends it
   */
  show(view) {
    this.#views.add(view);
    view(this.known);
    return () => this.#views.delete(view);
  }

  /** Takes *news* up into what is known. */
  learn(news) {
    this.known = { ...this.known, ...news };
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => this.#draw());
    setTimeout(() => this.#draw(), LATEST);
  }

  #draw() {
    if (!this.#isDue) return;
    this.#isDue = false;
    for (const view of this.#views) view(this.known);
  }

  /** Tells the other views: "files", "open", "draft", "shown", "pane" … */
  tell(name, detail) {
    this.#bus.dispatchEvent(new CustomEvent(name, { detail }));
  }

  on(name, listener) {
    this.#bus.addEventListener(name, (event) => listener(/** @type {CustomEvent} */ (event).detail));
  }

  // --- notices -------------------------------------------------------------------------------------

  /** Does *work*; a refusal is shown, and undefined returned. @template T @param {() => Promise<T>} work */
  async attempt(work) {
    try {
      return await work();
    } catch (refusal) {
      this.fail(refusal);
      return undefined;
    }
  }

  /** @param {any} refusal */
  fail(refusal) {
    if (!refusal.phrase) throw refusal;
    this.notice(say(refusal.phrase), true);
  }

  notice(text, isBad = false) {
    const id = (this.#notices += 1);
    this.learn({ notices: [...this.known.notices.slice(-3), { id, text, isBad }] });
    setTimeout(() => this.dismiss(id), isBad ? 8000 : 4000);
  }

  dismiss(id) {
    this.learn({ notices: this.known.notices.filter((notice) => notice.id !== id) });
  }
}
