// The Socket.IO part of docs/protocol.md: follows one session over any number of disconnections.

import { Follower } from "../state/follower.js";
import { Refused } from "./api.js";

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

  /** @param {(options: any) => any} io of socket.io-client @param {Listener} listener */
  constructor(io, listener) {
    this.listener = listener;
    this.socket = io({
      transports: ["websocket", "polling"],
      tryAllTransports: true,
      autoConnect: false,
      reconnectionDelay: 300,
      reconnectionDelayMax: 3000,
    });
    this.socket.on("connect", () => this.#connected());
    this.socket.on("disconnect", (reason) => this.#disconnected(reason));
    this.socket.on("connect_error", () => this.#refused());
    this.socket.on("ev", (packet) => this.#event(packet));
    this.socket.on("state", (state) => listener.state(state));
    this.socket.on("session", (row) => listener.session(row));
    this.socket.on("files", (change) => listener.files(change));
  }

  open() {
    this.socket.connect();
  }

  /** Shows *session* from now on. @param {string} session */
  follow(session) {
    if (this.#follower && this.#follower.session !== session) {
      this.#say("detach", { session: this.#follower.session });
    }
    this.#follower = new Follower(session);
    this.attach();
  }

  /** Asks anew for what is missing; cheap. */
  attach() {
    const follower = this.#follower;
    if (!follower || !this.socket.connected) return;
    const attempt = (this.#attempt += 1);
    this.socket.timeout(ACK_LIMIT * 2).emit("attach", follower.attach(), (late, ack) => {
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
        return checked(await this.socket.timeout(ACK_LIMIT).emitWithAck(event, message));
      } catch (problem) {
        if (problem instanceof Refused) throw problem;
      }
    }
    throw new Refused(0, {
      error: "no answer",
      code: "offline",
      phrase: { template: "The server does not answer." },
    });
  }

  /** @param {string[]} folders @param {string[]} files */
  watch(folders, files) {
    this.#say("watch", { folders: folders.slice(0, 500), files: files.slice(0, 500) });
  }

  #say(event, fields) {
    if (this.socket.connected) this.socket.emit(event, fields, () => {});
  }

  #connection() {
    if (this.socket.connected) return Promise.resolve();
    return new Promise((resolve) => this.socket.once("connect", resolve));
  }

  #connected() {
    this.listener.link("live");
    this.attach();
  }

  #disconnected(reason) {
    this.listener.link("lost");
    if (reason === "io server disconnect") this.socket.connect();
  }

  /** Tells a server that is away from one that no longer knows our cookie. */
  async #refused() {
    const answer = await fetch("/api/status").catch(() => null);
    if (!this.socket.connected) this.listener.link(answer?.status === 401 ? "denied" : "lost");
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
