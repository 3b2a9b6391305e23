// The Socket.IO part of docs/protocol.md: follows one session over any number of disconnections.

import { Follower } from "../state/follower.js";
import { Refused, unanswered } from "./api.js";

const ACK_LIMIT = 5000; // ms until a command is sent again
const TRIES = 6;

/** @typedef {"connecting" | "live" | "lost" | "denied"} Link */
/**
 * @typedef {object} Listener
 * @property {(link: Link) => void} link
 * @property {(session: string, events: any[], arrival: {fresh: boolean, firstTurn?: number}) => void} events
 * @property {(state: any) => void} state
 * @property {(row: any) => void} session
 * @property {(change: any) => void} files
 * @property {(session: string, refusal: Refused) => void} failed the session cannot be followed
 */

export class Connection {
  /** @type {Follower | null} */
  #follower = null;
  /** Rises with every `attach`; an answer to an older one is not for us. */
  #attempt = 0;

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
      reconnectionDelay: 300,
      reconnectionDelayMax: 3000,
    });
    socket.on("connect", () => this.#connected());
    socket.on("disconnect", (reason) => this.#disconnected(reason));
    socket.on("connect_error", () => this.#refused());
    socket.on("ev", (packet) => this.#event(packet));
    socket.on("state", (state) => this.listener.state(state));
    socket.on("session", (row) => this.listener.session(row));
    socket.on("files", (change) => this.listener.files(change));
    this.#socket = socket;
    this.#openedNow();
    socket.connect();
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
      this.#say("detach", { session: this.#follower.session });
    }
    this.#follower = new Follower(session);
    if (arrival) this.#arrived(this.#follower, arrival);
    this.attach();
  }

  /** Asks anew for what is missing; cheap. */
  attach() {
    const follower = this.#follower;
    if (!follower || !this.#isLive) return;
    const attempt = (this.#attempt += 1);
    this.#socket.timeout(ACK_LIMIT * 2).emit("attach", follower.attach(), (late, ack) => {
      if (attempt !== this.#attempt) return;
      if (late) this.attach();
      else if (!ack.ok) this.listener.failed(follower.session, new Refused(400, ack));
      else this.#arrived(follower, ack);
    });
  }

  /**
   * Has the server do something once, however often it must be said.
   * @param {string} event
   * @param {Record<string, any>} fields
   * @returns {Promise<any>} the ack; rejects with `Refused`
   */
  async command(event, fields) {
    const message = { ...fields, cmd: fields.cmd ?? crypto.randomUUID() };
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      await this.#connection();
      try {
        return checked(await this.#socket.timeout(ACK_LIMIT).emitWithAck(event, message));
      } catch (problem) {
        if (problem instanceof Refused) throw problem;
      }
    }
    throw unanswered("no answer");
  }

  /** @param {string[]} folders @param {string[]} files */
  watch(folders, files) {
    this.#say("watch", { folders: folders.slice(0, 500), files: files.slice(0, 500) });
  }

  #say(event, fields) {
    if (this.#isLive) this.#socket.emit(event, fields, () => {});
  }

  async #connection() {
    await this.#opened;
    if (!this.#isLive) await new Promise((resolve) => this.#socket.once("connect", resolve));
  }

  #connected() {
    this.listener.link("live");
    this.attach();
  }

  #disconnected(reason) {
    this.listener.link("lost");
    if (reason === "io server disconnect") this.#socket.connect();
  }

  /** Tells a server that is away from one that no longer knows our cookie. */
  async #refused() {
    const answer = await fetch("/api/status").catch(() => null);
    if (!this.#isLive) this.listener.link(answer?.status === 401 ? "denied" : "lost");
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
  throw new Refused(400, ack);
}
