// The changes of the shown session, asked for anew when they are others and somebody looks.

import { api } from "../net/api.js";

const PAUSE = 120; // ms in which more news may come
const HEAD = ["was", "kind", "is_folder", "is_own", "old", "new", "modes"]; // what tells one change of a file from another
const AGAIN = 2000; // ms until the server is asked again that did not answer

/**
 * @typedef {{path?: string, diff?: string, others?: boolean}} Part a file, or the hunk of it that is
 *   shown by *diff*; without a file all that the session changed, or that *others* did
 */

export class ChangesSource {
  /** The last answer of the server; null before the first. */
  answer = null;
  /** The turn since which changes are shown; 0 is the start of the session. */
  turn = 0;
  #session = "";
  #known = "";
  #news = 0;
  #isVisible = false;
  #isDue = false;
  #asking = Promise.resolve();
  #acting = Promise.resolve();

  /**
   * @param {import("../app.js").App} app
   * @param {HTMLElement} element is looked at when it is to be seen
   */
  constructor(app, element) {
    this.app = app;
    new IntersectionObserver((looks) => {
      this.#isVisible = looks.at(-1).isIntersecting;
      this.#look();
    }).observe(element);
    app.on("files", () => {
      this.#news += 1;
      this.#look();
    });
  }

  /** @param {() => void} changed is called at once, and whenever there is another answer */
  follow(changed) {
    this.changed = changed;
    changed();
    this.app.subscribe((state) => this.#follow(state));
  }

  /** @param {number} turn */
  choose(turn) {
    this.turn = turn;
    this.#look();
  }

  /**
   * Does *work* of ours after what was asked for before, then asks how things are. Nothing is done
   * if by then another session is shown, or its changes since another turn.
   * @param {(source: ChangesSource) => Promise<any>} work
   */
  act(work) {
    const shown = this.#shown;
    this.#acting = this.#acting.then(async () => {
      if (shown === this.#shown) await this.app.attempt(() => work(this));
      await this.#ask(true);
    });
    return this.#acting;
  }

  /** @param {Part} part nothing: all of it */
  accept = (part) => api.accept(this.#session, this.#placed(part));

  /** @param {Part} part */
  takeBack = async (part) => {
    const asked = { ...this.#placed(part), cmd: crypto.randomUUID() };
    this.app.undone((await api.takeBack(this.#session, asked)).card);
  };

  showAccepted = () => api.showAccepted(this.#session);

  /** Asks for the hunks of a file that were left out. @param {any} file of the answer */
  async load(file) {
    const { turn, seen } = this.answer;
    const whole = await this.app.attempt(() => api.changedFile(this.#session, turn, seen, file.path));
    if (!whole || !this.answer?.files.includes(file)) return; // which may be another by now
    const files = this.answer.files.map((each) => (each === file ? whole : each));
    this.answer = { ...this.answer, files };
    this.changed();
  }

  /** Says where *part* is by now: a hunk gets another place when one above it goes. */
  #placed({ path, diff, others }) {
    const { turn, seen } = this.answer; // what is shown; another turn may be chosen by now
    const about = { turn, seen, path, others };
    if (diff === undefined) return about;
    const file = this.answer.files.find((each) => each.path === path);
    const found = (file?.hunks ?? [])
      .map((hunk, place) => ({ place, far: Math.abs(lineOf(hunk.diff) - lineOf(diff)), hunk }))
      .filter(({ hunk }) => linesOf(hunk.diff) === linesOf(diff))
      .sort((one, other) => one.far - other.far);
    return { ...about, hunk: found[0]?.place ?? file?.hunks?.length ?? 0, old: file?.old ?? "" };
  }

  #follow({ session, sessionState, isReady }) {
    if (session !== this.#session) {
      this.#session = session;
      this.turn = 0;
      this.answer = null;
      this.#known = "";
      this.changed();
    }
    if (isReady && sessionState?.session === session) this.#look();
  }

  get #shown() {
    return `${this.#session} ${this.answer?.turn}`;
  }

  get #wanted() {
    const { sessionState } = this.app.state;
    return [this.#session, this.turn, sessionState?.boot, sessionState?.changes, this.#news].join(" ");
  }

  #look() {
    const { sessionState } = this.app.state;
    if (!this.#isVisible || this.#isDue) return;
    if (!sessionState?.changes || sessionState.session !== this.#session) return;
    if (this.#wanted === this.#known) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      this.#ask();
    }, PAUSE);
  }

  /** One question at a time; the last one asked counts. @param {boolean} [isNeeded] whatever is known */
  #ask(isNeeded = false) {
    this.#asking = this.#asking.then(() => {
      if (isNeeded) this.#known = "";
      return this.#askNow();
    });
    return this.#asking;
  }

  async #askNow() {
    const wanted = this.#wanted;
    const session = this.#session;
    if (wanted === this.#known || !session) return;
    try {
      const answer = await api.changes(session, this.turn);
      if (session !== this.#session) return;
      this.#known = wanted;
      this.answer = { ...answer, files: kept(this.answer?.files ?? [], answer.files) };
      this.changed();
    } catch (refusal) {
      if (refusal.status && session === this.#session) {
        this.#known = wanted;
        if (refusal.code !== "unknown_session") this.app.fail(refusal); // which is told by itself
      } else setTimeout(() => this.#look(), AGAIN);
    }
    this.#look();
  }
}

const lineOf = (diff) => Number(/^@@ -(\d+)/.exec(diff)?.[1] ?? 0);
const linesOf = (diff) => diff.slice(diff.indexOf("\n"));

/** Files that did not change stay the same objects, so that their views are left alone. */
function kept(before, now) {
  const known = new Map(before.map((file) => [file.path, file]));
  const isSame = (one, other) => HEAD.every((name) => String(one[name]) === String(other[name]));
  return now.map((file) => {
    const old = known.get(file.path);
    return old && isSame(old, file) && (file.is_left || !old.is_left) ? old : file;
  });
}
