// The store of the page with all that a person can do; the views subscribe to it and call it.

import { api, filesChanged } from "./net/api.js";
import { Connection } from "./net/connection.js";
import { Finder } from "./search/finder.js";
import { noteSent, noteUnsent, unsent } from "./store/outbox.js";
import { Store } from "./store/store.js";
import { listedRows, newestFirst } from "./store/selectors.js";
import { apply, emptyTranscript, applyAll, withEarlier } from "./store/reducer.js";
import { remember, remembered } from "./lib/storage.js";
import { snapshotOfPage, sessionOf } from "./lib/address.js";
import { loadSocket } from "./lib/vendor.js";
import { say, t } from "./i18n/translate.js";

/**
 * @typedef {object} State
 * @property {import("./net/connection.js").Link} link
 * @property {any} status of the server: /api/status
 * @property {any[]} sessions rows, newest first
 * @property {string} session the one that is shown
 * @property {boolean} isReady whether its transcript has come
 * @property {import("./store/reducer.js").Transcript} transcript
 * @property {any} sessionState as the server tells it, null before it came
 * @property {import("./store/outbox.js").Sent[]} outbox sent, and not yet seen in the log
 * @property {{id: number, text: string, isBad: boolean}[]} notices
 * @property {import("./store/undo_marks.js").Mark[]} marks of calls that changed files
 * @property {string} [marksOf] the shown session, once its marks are told
 */

export class App extends Store {
  #snapshots = 0;
  /** Ids of what is on its way to the server. */
  #delivering = new Set();
  #isEntering = false;
  #left = ""; // a session that is gone, until another is there
  /** @type {() => void} */
  #sessionIsThere = () => {};
  /** Resolves once there is a session to talk to; what is sent before waits for it. */
  #session = this.#sessionToCome();

  constructor() {
    super();
    /** @type {State} */
    this.state = {
      link: "connecting",
      status: null,
      sessions: [],
      session: "",
      isReady: false,
      transcript: emptyTranscript(),
      sessionState: null,
      outbox: [],
      notices: [],
      marks: [],
    };
    this.finder = new Finder();
    this.connection = new Connection({
      link: (link) => this.#linked(link),
      events: (session, events, arrival) => this.#happened(session, events, arrival),
      state: (state) => this.#stateCame(state),
      session: (row) => this.#rowCame(row),
      files: (change) => this.#filesChanged(change),
      failed: (session, refusal) => this.#cannotFollow(session, refusal),
    });
  }

  // --- what comes in -------------------------------------------------------------------------------

  /** Asks for what nobody could tell while the line was lost. */
  #linked(link) {
    const wasLost = this.state.link !== "connecting";
    this.setState({ link });
    if (link !== "live") return;
    this.refreshSessions();
    if (this.state.status) this.#enter(); // where that failed before
    if (wasLost) this.#filesChanged({ by: "outside", folders: ["*"], paths: [] });
  }

  #happened(session, events, { fresh, firstTurn }) {
    if (session !== this.state.session) return;
    if (fresh) this.#snapshots += 1; // nothing of the old transcript may pass for something of the new
    const start = fresh ? emptyTranscript(`${this.#snapshots}.`, firstTurn) : this.state.transcript;
    const transcript = events.length === 1 ? apply(start, events[0]) : applyAll(events, start);
    const seen = new Set(events.map((event) => event.cmd).filter(Boolean));
    const outbox = this.state.outbox.filter(({ cmd }) => !seen.has(cmd));
    for (const { cmd } of this.state.outbox) if (seen.has(cmd)) noteSent(session, cmd);
    const asked = new Map(this.state.outbox.map(({ cmd, text }) => [cmd, text]));
    this.setState({ transcript, outbox, isReady: true });
    if (!fresh) events.forEach((event) => this.emit("event", event));
    if (events.some((event) => event.type === "CommandAnswered" && event.effect === "exit") && !fresh) {
      this.notice(t("You can close this tab now."));
    }
    for (const { effect, cmd } of events) if (/^(agents|keys|git|phone|theme)$/.test(effect) && asked.has(cmd)) this.emit(effect);
    for (const { type, ok, cmd } of events) if (type === "CommandAnswered" && ok === false && asked.has(cmd)) this.emit("mistyped", asked.get(cmd));
  }

  #stateCame(state) {
    if (!state || state.session !== this.state.session) return;
    const old = this.state.sessionState;
    if (old && old.boot === state.boot && old.revision > state.revision) return;
    this.setState({ sessionState: state });
  }

  #rowCame(row) {
    const others = this.state.sessions.filter(({ id }) => id !== row.id);
    if (row.deleted) {
      this.setState({ sessions: others });
      if (row.id === this.state.session) this.#gone();
    } else this.setState({ sessions: [row, ...others].sort(newestFirst) });
  }

  #filesChanged(change) {
    this.finder.forget();
    filesChanged();
    this.emit("files", change);
  }

  #cannotFollow(session, refusal) {
    if (session !== this.state.session) return;
    if (refusal.code === "unknown_session" || refusal.code === "not_found") this.#gone();
    else {
      this.fail(refusal);
      this.setState({ isReady: true });
    }
  }

  /** The session that is shown was deleted, here or elsewhere. */
  #gone() {
    const { session } = this.state;
    if (session === this.#left) return;
    this.#left = session;
    this.notice(t("That session no longer exists. This is a new one."));
    this.#start(true).finally(() => (this.#left = ""));
  }

  // --- what the person does ------------------------------------------------------------------------

  async start() {
    const named = sessionOf(location.pathname);
    if (named) this.openSession(named, true, snapshotOfPage());
    loadSocket().then(({ io }) => this.connection.open(io));
    const [status, { sessions: listed }] = await this.#house();
    this.setState({ status, sessions: listedRows([], this.state.sessions, listed) });
    await this.#enter();
  }

  /** Shows the session that was shown last, or else the newest or a first one, if none is shown. */
  async #enter() {
    if (this.state.session || this.#isEntering) return;
    this.#isEntering = true;
    try {
      const ids = this.state.sessions.map(({ id }) => id);
      const wanted = ids.find((id) => id === remembered("session")) ?? ids[0];
      if (wanted) this.openSession(wanted, true);
      else await this.startSession();
    } finally {
      this.#isEntering = false;
    }
  }

  /** Asks what is served here until the server answers. */
  async #house() {
    for (;;) {
      try {
        return await Promise.all([api.status(), api.sessions()]);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
    }
  }

  /**
   * @param {string} id
   * @param {boolean} [replaces] whether "back" skips what was shown before
   * @param {any} [arrival] its transcript, if the page brought it
   */
  openSession(id, replaces = false, arrival = null) {
    if (id === this.state.session) return;
    const address = `/s/${id}${location.search}`;
    if (replaces) history.replaceState(history.state, "", address);
    else history.pushState(history.state, "", address);
    remember("session", id);
    const outbox = unsent(id);
    const transcript = emptyTranscript();
    this.setState({ session: id, isReady: false, transcript, sessionState: null, outbox, marks: [], marksOf: "" });
    this.connection.follow(id, arrival);
    for (const sent of this.state.outbox) this.#deliver(id, sent);
    this.#sessionIsThere();
    this.emit("session", id);
  }

  #sessionToCome() {
    const tellBefore = this.#sessionIsThere; // what was sent before waits for this one as well
    return new Promise((resolve) => {
      this.#sessionIsThere = () => {
        tellBefore();
        resolve(undefined);
      };
    });
  }

  startSession = () => this.#start(false);

  /** @param {boolean} isInstead whether it takes the place of one that is gone, with what is being written */
  #start(isInstead) {
    const { session } = this.state;
    const isFirst = !session; // it takes nobody from where he went meanwhile
    return this.attempt(async () => {
      this.#session = this.#sessionToCome();
      this.emit("starting", isInstead);
      try {
        const row = await api.newSession();
        if (session !== this.state.session) return; // somebody went on elsewhere
        this.openSession(row.id, isInstead || isFirst);
        if (!isFirst) this.emit("compose");
      } finally {
        this.#sessionIsThere();
        if (!isFirst && session === this.state.session) this.emit("session", session); // it stays
      }
    });
  }

  /**
   * Sends a message or a slash command; it is shown at once.
   * @param {string} text
   * @param {boolean} [now] stop what runs and do this next
   * @param {import("./composer/attachments.js").Picture[]} [pictures] that the session was given; then it is no command
   */
  async send(text, now = false, pictures = []) {
    const session = await this.sessionIsThere();
    const sent = { cmd: crypto.randomUUID(), text, now, ...(pictures.length ? { pictures } : {}) };
    noteUnsent(session, sent);
    this.setState({ outbox: [...this.state.outbox, sent] });
    await this.#deliver(session, sent);
  }

  /** Resolves to the session that is shown, once there is one. */
  async sessionIsThere() {
    await this.#session;
    return this.state.session;
  }

  /** Sees to it that the server gets *sent*, if that is not under way. */
  async #deliver(session, { cmd, text, now, pictures }) {
    if (this.#delivering.has(cmd)) return;
    this.#delivering.add(cmd);
    try {
      const shown = pictures ? { pictures: pictures.map(({ digest }) => digest) } : {};
      const ack = await this.connection.say("send", { session, cmd, text, now, ...shown });
      if (ack.open && session === this.state.session) this.openSession(ack.open);
      if (ack.queued || ack.open) this.#forgetSent(cmd);
      if (ack.queued && text.startsWith("/") && !pictures)
        this.notice(t("{command} will run when the task is done.", { command: text.split(/\s/)[0] }));
    } catch (refusal) {
      this.#forgetSent(cmd);
      this.giveBack(session, text, pictures);
      this.fail(refusal);
    } finally {
      noteSent(session, cmd);
      this.#delivering.delete(cmd);
    }
  }

  /** Lets *text* be mended where it was written, with its pictures. @param {string} session @param {string} text */
  giveBack(session, text, pictures = []) {
    if (pictures.length) this.emit("pictures", { session, pictures });
    if (!text) return;
    const name = `draft.${session}`;
    if (session === this.state.session) this.emit("draft", text);
    else remember(name, [remembered(name), text].filter(Boolean).join("\n"));
  }

  #forgetSent(cmd) {
    this.setState({ outbox: this.state.outbox.filter((sent) => sent.cmd !== cmd) });
  }

  stop = () => {
    if (this.state.link === "lost") this.notice(t("Stop waits: it is sent once the connection is back."), true);
    return this.#do("stop", {});
  };

  /** @param {string} call_id @param {{yes: boolean, key?: string, always?: boolean, pattern?: string, reason?: string}} reply */
  answer = (call_id, reply) => this.#do("answer", { call_id, ...reply });

  /** @param {"drop" | "move" | "now"} op */
  queue = (op, id, to) => this.#do("queue", { op, id, ...(to === undefined ? {} : { to }) });

  /** Runs a slash command beside the talk and returns its answer. @param {string} line */
  async aside(line) {
    if (this.state.link === "lost") this.notice(t("Will be sent when the connection is back."));
    const ack = await this.attempt(async () => {
      await this.#session;
      return this.connection.say("command", { session: this.state.session, line });
    });
    if (ack?.done === false) this.notice(say(ack.card?.title), true);
    return ack;
  }

  /** Takes back, or brings again, what a turn or a call did to files; number 0 is the last. */
  undo = (what, number, again = false) =>
    this.attempt(async () => this.undone((await api.undo(this.state.session, what, number, again)).card));

  /** Says what an undo could not do; all it did stands in the conversation. @param {any} card */
  undone(card) {
    for (const row of (card.rows ?? []).filter((row) => row[2])) this.notice(row.map(say).join(" · "), true);
  }

  /** @param {string} session @param {import("./store/undo_marks.js").Mark[]} marks */
  marked(session, marks) {
    if (session === this.state.session) this.setState({ marks, marksOf: session });
  }

  /** Does something to what is shown, though another session may be on its way. */
  #do(event, fields) {
    const { session } = this.state;
    return this.attempt(() => this.connection.command(event, { session, ...fields }));
  }

  /** Goes on in a copy of this session that ends before *turn*, with *text* to be sent there. */
  fork = (turn, text, pictures = []) =>
    this.attempt(async () => {
      const row = await api.forkSession(this.state.session, turn - 1);
      this.openSession(row.id);
      this.notice(t("You are now in a new session; the previous one is unchanged."));
      if (text || pictures.length) await this.send(text, false, pictures);
    });

  loadEarlier = () =>
    this.attempt(async () => {
      const { session, transcript } = this.state;
      const { first_turn, events } = await api.earlier(session, transcript.firstTurn);
      if (session !== this.state.session || transcript.firstTurn !== this.state.transcript.firstTurn) return;
      this.setState({ transcript: withEarlier(this.state.transcript, events, first_turn) });
    });

  refreshSessions = (archived = 0) =>
    this.attempt(async () => {
      const before = this.state.sessions;
      const { sessions } = await api.sessions(archived);
      this.setState({ sessions: listedRows(before, this.state.sessions, sessions, archived) });
    });
}
