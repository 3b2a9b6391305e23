// What the right pane shows beside files: previews and terminals, each in a tab of its own.

/**
 * @typedef {object} PaneView
 * @property {HTMLElement} element
 * @property {() => void} leave
 * @property {() => void} [shown] called when it comes to be seen
 * @property {() => void} [close] asked for by the person; without it the view is removed at once
 * @property {boolean} [isOfSession] whether it goes with the session that is shown
 */

export class PaneViews {
  /** @type {Map<string, PaneView>} by the keys of their tabs, which are no paths of the project */
  #views = new Map();
  #shown = "";

  /**
   * @param {import("../app.js").App} app
   * @param {HTMLElement} slot where everything else is shown; these stand beside it
   * @param {(key?: string) => void} choose shows a tab, without one the same as before
   */
  constructor(app, slot, choose) {
    this.slot = slot;
    this.choose = choose;
    app.on("session", () => {
      for (const [key, view] of [...this.#views]) if (view.isOfSession) this.remove(key);
    });
  }

  keys() {
    return this.#views.keys();
  }

  /** The key of the one that is shown, "" for none of them. */
  get shown() {
    return this.#shown;
  }

  has(key) {
    return this.#views.has(key);
  }

  /** Adds a view, which is not shown yet. @param {string} key @param {PaneView} view */
  add(key, view) {
    view.element.hidden = true;
    this.#views.set(key, view);
    this.slot.after(view.element);
  }

  /** Shows *key*, or none of them. A frame that is moved loads anew: they stay. */
  show(key) {
    this.#shown = this.#views.has(key) ? key : "";
    for (const [one, view] of this.#views) view.element.hidden = one !== key;
    this.slot.hidden = Boolean(this.#shown);
    this.#views.get(key)?.shown?.();
  }

  /** Does what the person asks for by closing the tab. */
  close(key) {
    const view = this.#views.get(key);
    if (view?.close) view.close();
    else this.remove(key);
  }

  remove(key) {
    const view = this.#views.get(key);
    if (!view) return;
    this.#views.delete(key);
    const wasShown = this.#shown === key;
    view.leave();
    this.choose(wasShown ? ([...this.keys()].at(-1) ?? "") : undefined);
  }
}

/** The views of *pane*, made for the first. @param {any} pane @param {(key?: string) => void} choose */
export function viewsOf(pane, choose) {
  pane.views ??= new PaneViews(pane.app, pane.slot, choose);
  return pane.views;
}
