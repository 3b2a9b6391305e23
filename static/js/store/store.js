// The store: the state of the page, who subscribes to it, and events between the views.

import { say } from "../i18n/translate.js";

const LATEST = 300; // ms; a page in the background has no frames

export class Store {
  /** @type {any} never changed, but replaced */
  state = { notices: [] };
  #subscribers = new Set();
  #events = new EventTarget();
  #isDue = false;
  #notices = 0;
  #areHeld = false;
  #passing = new Set();

  /**
   * @param {(state: any) => void} subscriber is called at once, then at most once a frame, when something changed
   * @returns {() => void} unsubscribes
   */
  subscribe(subscriber) {
    this.#subscribers.add(subscriber);
    subscriber(this.state);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Merges *changes* into the state. */
  setState(changes) {
    this.state = { ...this.state, ...changes };
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => this.#notify());
    setTimeout(() => this.#notify(), LATEST);
  }

  #notify() {
    if (!this.#isDue) return;
    this.#isDue = false;
    for (const subscriber of this.#subscribers) subscriber(this.state);
  }

  /** Emits an event to the views: "files", "open", "draft", "shown", "pane" … */
  emit(name, detail) {
    this.#events.dispatchEvent(new CustomEvent(name, { detail }));
  }

  on(name, listener) {
    this.#events.addEventListener(name, (event) => listener(/** @type {CustomEvent} */ (event).detail));
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

  /** Shows *text* for a while, once: what says the same already goes. */
  notice(text, isBad = false) {
    const notice = { id: (this.#notices += 1), text, isBad };
    const others = this.state.notices.filter((other) => other.text !== text);
    this.setState({ notices: [...others.slice(-3), notice] });
    if (!this.#areHeld) this.#letPass(notice);
  }

  #letPass({ id, isBad }) {
    this.#passing.add(setTimeout(() => this.dismiss(id), isBad ? 8000 : 4000));
  }

  /** @param {boolean} areHeld whether the notices stay; let go, they are there for their whole time again */
  holdNotices(areHeld) {
    if (areHeld === this.#areHeld) return;
    this.#areHeld = areHeld;
    if (!areHeld) return this.state.notices.forEach((notice) => this.#letPass(notice));
    for (const timer of this.#passing) clearTimeout(timer);
    this.#passing.clear();
  }

  dismiss(id) {
    this.setState({ notices: this.state.notices.filter((notice) => notice.id !== id) });
  }
}
