// The previews that are open in the right pane, each in a tab of its own.

import { PreviewView } from "./preview_view.js";
import { t } from "../i18n/translate.js";

/**
 * Shows what a job serves in *pane*, whose `previews` is made for the first.
 * @param {any} pane @param {import("./preview_view.js").Served} served
 * @param {(key?: string) => void} choose shows a tab, without one the same as before
 */
export function open(pane, served, choose) {
  previewsOf(pane, choose).open(served);
}

/**
 * Shows the view that *make* makes, once, in a tab of its own. One that `stays` outlives the session.
 * @param {any} pane @param {string} key of its tab, no path of the project
 * @param {() => {element: HTMLElement, leave: () => void, stays?: boolean}} make
 * @param {(key?: string) => void} choose as above
 */
export function openView(pane, key, make, choose) {
  previewsOf(pane, choose).openView(key, make);
}

const previewsOf = (pane, choose) => (pane.previews ??= new Previews(pane.app, pane.slot, choose));

class Previews {
  /** @type {Map<string, any>} by the keys of their tabs, which are no paths of the project */
  #views = new Map();

  /**
   * @param {import("../app.js").App} app
   * @param {HTMLElement} slot where everything else is shown; previews stand beside it
   * @param {(key?: string) => void} choose shows a tab, without one the same as before
   */
  constructor(app, slot, choose) {
    this.app = app;
    this.slot = slot;
    this.choose = choose;
    app.on("session", () => [...this.#views].forEach(([key, view]) => view.stays || this.close(key)));
  }

  keys() {
    return this.#views.keys();
  }

  /** @param {import("./preview_view.js").Served} served */
  open(served) {
    const name = t("Port {port}", { port: served.port });
    this.openView(`/${served.job}/${name}`, () => new PreviewView(this.app, served, name));
  }

  openView(key, make) {
    this.app.emit("pane", true);
    if (!this.#views.has(key)) {
      const view = make();
      this.#views.set(key, view);
      this.slot.after(view.element);
    }
    this.choose(key);
  }

  /** Shows the preview *key*, or none of them. A frame that is moved loads anew: they stay. */
  show(key) {
    for (const [one, view] of this.#views) view.element.hidden = one !== key;
    this.slot.hidden = this.#views.has(key);
  }

  close(key) {
    const view = this.#views.get(key);
    this.#views.delete(key);
    view.leave();
    this.choose(view.element.hidden ? undefined : ([...this.keys()].at(-1) ?? ""));
  }
}
