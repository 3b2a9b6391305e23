// Keeps to the numbers of one session's log, so that no event is lost and none counts twice; pure
// bookkeeping: the socket and the transcript are elsewhere.

/** @typedef {import("./reducer.js").Packet} Packet */
/** @typedef {{mode: "replay" | "snapshot", boot: string, head: number, events: Packet[]}} Arrival */

export class Follower {
  /** @param {string} session */
  constructor(session) {
    this.session = session;
    this.boot = "";
    this.seq = 0;
    /** @type {Packet[] | null} what came before the answer to `attach`; null: nothing is awaited */
    this.waiting = null;
  }

  /** Returns what to ask the server; until `arrive`, packets wait. */
  attach() {
    this.waiting = [];
    return { session: this.session, boot: this.boot, after: this.seq };
  }

  /** The next `attach` wants the whole transcript. */
  forget() {
    this.boot = "";
    this.seq = 0;
  }

  /**
   * Takes the answer to `attach`.
   * @param {Arrival} arrival
   * @returns {{fresh: boolean, events: Packet[], isWhole: boolean}} whether to begin with an empty
   * transcript, the events to apply, and whether none is missing; if one is: attach again
   */
  arrive(arrival) {
    const waited = this.waiting ?? [];
    this.waiting = null;
    this.boot = arrival.boot;
    const known = this.seq;
    this.seq = arrival.head;
    const replayed =
      arrival.mode === "replay" ? arrival.events.filter((event) => event.seq > known) : arrival.events;
    const { events, isWhole } = this.#follow(waited.filter((packet) => packet.seq > arrival.head));
    return { fresh: arrival.mode === "snapshot", events: [...replayed, ...events], isWhole };
  }

  /**
   * @param {Packet} packet
   * @returns {"wait" | "apply" | "drop" | "attach"} what to do with it
   */
  receive(packet) {
    if (this.waiting) {
      this.waiting.push(packet);
      return "wait";
    }
    if (packet.boot !== this.boot) return "attach";
    if (packet.seq <= this.seq) return "drop";
    if (packet.seq !== this.seq + 1) return "attach";
    this.seq = packet.seq;
    return "apply";
  }

  /** @param {Packet[]} packets */
  #follow(packets) {
    const events = [];
    for (const packet of packets) {
      const verdict = this.receive(packet);
      if (verdict === "attach") return { events, isWhole: false };
      if (verdict === "apply") events.push(packet);
    }
    return { events, isWhole: true };
  }
}
