// Git of the project, as the server tells it: asked anew when something changed and somebody looks.

import { request } from "../net/api.js";

const PAUSE = 150; // ms in which more news may come
const LEAST = 4000; // ms until git is asked again where nobody tells of a change, as of `git add`
const MOST = 15_000;
const SHARE = 30; // of the time that git took: it is idle that long where that lies between both

export class GitSource {
  /** The last answer; null before the first. @type {any} */
  answer = null;
  #session = "";
  #isVisible = false;
  #timer = 0;
  #asking = Promise.resolve();
  #acting = Promise.resolve();
  #news = "";
  #isLeft = false;

  /** @param {import("../app.js").App} app @param {HTMLElement} element asked for while it is seen */
  constructor(app, element, changed) {
    this.app = app;
    this.changed = changed;
    this.observer = new IntersectionObserver((looks) => {
      this.#isVisible = looks.at(-1).isIntersecting;
      this.look();
    });
    this.observer.observe(element);
    this.onFocus = () => this.look();
    addEventListener("focus", this.onFocus);
    app.on("files", () => this.look());
    app.subscribe((state) => this.#follow(state));
  }

  leave() {
    this.#isLeft = true;
    clearTimeout(this.#timer);
    removeEventListener("focus", this.onFocus);
    this.observer.disconnect();
  }

  get session() {
    return this.#session;
  }

  look(delay = PAUSE) {
    clearTimeout(this.#timer);
    if (!this.#isLeft) this.#timer = setTimeout(() => this.ask(), delay);
  }

  /** One question at a time. @returns {Promise<void>} */
  ask() {
    this.#asking = this.#asking.then(() => this.#askNow());
    return this.#asking;
  }

  /** @param {string} what a route below that of git @param {Record<string, any>} [query] */
  get(what, query = {}) {
    return this.app.attempt(() => this.#request("GET", what, { query }));
  }

  /** Does what was asked for before, then this, and then asks how things are. @returns {Promise<any>} */
  act(what, body) {
    const session = this.#session;
    const done = this.#acting.then(() =>
      session === this.#session
        ? this.#request("POST", what, { body: { ...body, cmd: crypto.randomUUID() } })
        : undefined,
    );
    this.#acting = done.catch(() => {}).then(() => this.ask());
    return this.#acting.then(() => done);
  }

  #request(method, what, options) {
    return request(method, `/api/sessions/${this.#session}/git${what && `/${what}`}`, options);
  }

  #follow({ session, sessionState, isReady }) {
    const { changes = "", running = false, boot = "" } = sessionState ?? {};
    const news = [session, isReady, boot, running, changes].join(" ");
    if (!isReady || news === this.#news) return;
    this.#news = news;
    if (session !== this.#session) this.answer = null;
    this.#session = session;
    this.look();
  }

  async #askNow() {
    const session = this.#session;
    if (!session || !this.#isVisible || document.hidden || this.#isLeft) return;
    const begin = performance.now();
    try {
      const answer = await this.#request("GET", "", {});
      if (session === this.#session) {
        this.answer = answer;
        this.app.emit("branch", answer.state?.branch || answer.state?.head.slice(0, 8) || "");
        this.changed();
      }
    } catch (refusal) {
      if (refusal.status) this.app.fail(refusal);
    }
    this.look(Math.min(MOST, Math.max(LEAST, (performance.now() - begin) * SHARE)));
  }
}
