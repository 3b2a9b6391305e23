// The Socket.IO part of docs/protocol.md: follows one session over any number of disconnections.

import { Follower } from "../store/follower.js";
import { ApiError, unanswered } from "./api.js";
import { key } from "./key.js";

const ACK_LIMIT = 5000; // ms until a command is sent again
const TRIES = 6;

/** @typedef {"connecting" | "live" | "lost" | "denied" | "keyless"} Link */
/**
 * @typedef {object} Listener
 * @property {(link: Link) => void} link
 * @property {(session: string, events: any[], arrival: {fresh: boolean, firstTurn?: number}) => void} events
 * @property {(state: any) => void} state
 * @property {(row: any) => void} session
 * @property {(change: any) => void} files
 * @property {(session: string, refusal: ApiError) => void} failed the session cannot be followed
 */

export class Connection {
  /** @type {Follower | null} */
  #follower = null;
  /** Rises with every `attach`; an answer to an older one is not for us. */
  #attempt = 0;
  /** Settles when the server has what was said before. */
  #said = Promise.resolve();
  /** Settles when the server has left the session before. */
  #left = Promise.resolve();
  /** The folders to be watched; null before the first time. */
  #watched = null;
  #isTelling = false;

  /** @type {any} there once `open` was called */
  #socket = null;
  #openedNow = () => {};
  #opened = new Promise((resolve) => {
    this.#openedNow = () => resolve(undefined);
  });

  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
  }

  /** @param {(options: any) => any} io of socket.io-client */
  open(io) {
    const socket = io({
      transports: ["websocket", "polling"],
      tryAllTransports: true,
      autoConnect: false,
      query: { key: key() },
      reconnectionDelay: 300,
      reconnectionDelayMax: 3000,
    });
    socket.on("connect", () => this.#connected());
    socket.on("disconnect", (reason) => this.#disconnected(reason));
    socket.on("connect_error", () => this.#refused());
    // A login in another tab brings another key.
    socket.io.on("reconnect_attempt", () => (socket.io.opts.query = { key: key() }));
    socket.on("ev", (packet) => this.#event(packet));
    socket.on("state", (state) => this.listener.state(state));
    socket.on("session", (row) => this.listener.session(row));
    socket.on("files", (change) => this.listener.files(change));
    this.#socket = socket;
    this.#openedNow();
    socket.connect();
  }

  /** Resolves to the socket once there is one. */
  async socket() {
    await this.#opened;
    return this.#socket;
  }

  get #isLive() {
    return Boolean(this.#socket?.connected);
  }

  /**
   * Shows *session* from now on.
   * @param {string} session
   * @param {any} [arrival] an answer to `attach` that came with the page
   */
  follow(session, arrival = null) {
    if (this.#follower && this.#follower.session !== session) {
      this.#left = this.#told("detach", { session: this.#follower.session });
    }
    this.#follower = new Follower(session);
    if (arrival) this.#arrived(this.#follower, arrival);
    this.attach();
  }

  /** Asks anew for what is missing; cheap. */
  async attach() {
    const attempt = (this.#attempt += 1);
    await this.#left; // which may be the same one
    const follower = this.#follower;
    if (attempt !== this.#attempt || !follower || !this.#isLive) return;
    this.#socket.timeout(ACK_LIMIT * 2).emit("attach", follower.attach(), (late, ack) => {
      if (attempt !== this.#attempt) return;
      if (late) this.attach();
      else if (!ack.ok) this.listener.failed(follower.session, new ApiError(400, ack));
      else this.#arrived(follower, ack);
    });
  }

  /**
   * Has the server do something once, however often it must be said.
   * @param {string} event
   * @param {Record<string, any>} fields
   * @returns {Promise<any>} the ack; rejects with `ApiError`
   */
  async command(event, fields) {
    const message = { ...fields, cmd: fields.cmd ?? crypto.randomUUID() };
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      await this.#connection();
      try {
        return checked(await this.#socket.timeout(ACK_LIMIT).emitWithAck(event, message));
      } catch (problem) {
        if (problem instanceof ApiError) throw problem;
      }
    }
    throw unanswered("no answer");
  }

  /** As `command`, after all that was said before: the server hears several things at once. */
  say(event, fields) {
    const done = this.#said.then(() => this.command(event, fields));
    this.#said = done.catch(() => {}); // who said it is told
    return done;
  }

  /** @param {string[]} folders @param {string[]} files */
  watch(folders, files) {
    this.#watched = { folders: folders.slice(0, 500), files: files.slice(0, 500) };
    this.#watch();
  }

  /** Tells what is to be watched until the server has the last of it. */
  async #watch() {
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let told = null; this.#isLive && told !== this.#watched;) {
      const wanted = this.#watched;
      if (await this.#told("watch", wanted)) told = wanted;
    }
    this.#isTelling = false;
  }

  /** Tells something that is of no use to the next connection; returns whether the server has it. */
  async #told(event, fields) {
    if (!this.#isLive) return false;
    return this.#socket.timeout(ACK_LIMIT).emitWithAck(event, fields).then(
      () => true,
      () => false,
    );
  }

  async #connection() {
    await this.#opened;
    if (!this.#isLive) await new Promise((resolve) => this.#socket.once("connect", resolve));
  }

  #connected() {
    this.listener.link("live");
    this.attach();
    this.#watch();
  }

  #disconnected(reason) {
    this.listener.link("lost");
    if (reason === "io server disconnect") this.#socket.connect();
  }

  /** Tells a server that is away from one that does not know our cookie or our key. */
  async #refused() {
    const answer = await fetch("/api/status", { headers: { "X-Onefold-Key": key() } }).catch(() => null);
    const code = answer?.status === 401 ? (await answer.json().catch(() => ({ code: "closed" }))).code : "";
    if (!this.#isLive) this.listener.link(code === "no_key" ? "keyless" : code ? "denied" : "lost");
  }

  #arrived(follower, ack) {
    const { fresh, events, isWhole } = follower.arrive(ack);
    this.listener.events(follower.session, events, { fresh, firstTurn: ack.first_turn });
    this.listener.state(ack.state);
    if (!isWhole) this.attach();
  }

  #event(packet) {
    const follower = this.#follower;
    if (!follower || packet.session !== follower.session) return;
    const verdict = follower.receive(packet);
    if (verdict === "attach") this.attach();
    if (verdict !== "apply") return;
    this.listener.events(follower.session, [packet], { fresh: false });
    if (packet.type === "CommandAnswered" && packet.effect === "session") {
      follower.forget();
      this.attach();
    }
  }
}

function checked(ack) {
  if (ack.ok) return ack;
  throw new ApiError(400, ack);
}
