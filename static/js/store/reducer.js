// The picture of a session: a pure function of the events that came, in order.

/** @typedef {import("../i18n/phrases.js").Text} Text */
/** @typedef {import("../i18n/phrases.js").Phrase} Phrase */
/** @typedef {{kind: string, [field: string]: any}} Card */
/** @typedef {{type: string, seq?: number, [field: string]: any}} Packet */
/** @typedef {{risk: string, why: Text, pattern: string, preview: Card, may_revise: boolean}} Question */
/**
 * One thing in the conversation; `key` is unique in its picture, and an item that changed is
 * another object.
 * @typedef {{key: string, kind: "person", text: string, turn: number, cmd: string, pictures?: any[]}
 *   | {key: string, kind: "thinking", text: string, seconds: number | null}
 *   | {key: string, kind: "text", text: string, done: boolean}
 *   | {key: string, kind: "call", id: string, name: string, arguments: Record<string, any>,
 *      state: "running" | "done" | "failed" | "refused" | "stopped", output: Output,
 *      isRevised: boolean, question: Question | null, card: Card | null, seconds: number, changes: any[]}
 *   | {key: string, kind: "retry", reason: Text, attempt: number, seconds: number}
 *   | {key: string, kind: "thought", text: string}
 *   | {key: string, kind: "warning", what: Text}
 *   | {key: string, kind: "info", what: Text}
 *   | {key: string, kind: "command", command: string, card: Card | null, ok: boolean}
 *   | {key: string, kind: "end", why: string, detail: Text | null, seconds: number, usage: any, stillOpen: Text | null, turn: number}} Item
 */
/** @typedef {{text: string, dropped: number}} Output `dropped` characters came before `text` */
/**
 * @typedef {{items: Item[], firstTurn: number, turn: number, step: number, isRunning: boolean,
 *   drafted: {name: string, characters: number} | null, serial: number, prefix: string}} Picture
 * `step` is the place in `items` where the running model call began.
 */

const OUTPUT_KEPT = 1_200_000;

/**
 * @param {string} [prefix] of the keys
 * @param {number} [firstTurn]
 * @returns {Picture}
 */
export function emptyPicture(prefix = "", firstTurn = 1) {
  return { items: [], firstTurn, turn: 0, step: 0, isRunning: false, drafted: null, serial: 0, prefix };
}

/** What each event does to the picture; a test holds the names against those of the server. */
const DRAWN = {
  TurnStarted: (picture, { text, turn, cmd = "", pictures = [] }) =>
    added(
      { ...picture, turn, isRunning: true },
      { kind: "person", text, turn, cmd, ...(pictures.length ? { pictures } : {}) },
    ),

  StepStarted: (picture) => ({ ...answered(picture), step: picture.items.length }),

  ThinkingDelta: (picture, { text }) => {
    const last = picture.items.at(-1);
    if (last?.kind === "thinking" && last.seconds === null)
      return changedLast(picture, { text: last.text + text });
    return added(picture, { kind: "thinking", text, seconds: null });
  },

  ThinkingFinished: (picture, { seconds }) =>
    picture.items.at(-1)?.kind === "thinking" ? changedLast(picture, { seconds }) : picture,

  TextDelta: (picture, { text }) => {
    const last = picture.items.at(-1);
    if (last?.kind === "text" && !last.done) return changedLast(picture, { text: last.text + text });
    return added(picture, { kind: "text", text, done: false });
  },

  CallDrafted: (picture, { name, characters }) => ({ ...picture, drafted: { name, characters } }),

  Retrying: (picture, { reason, attempt, seconds }) =>
    added(
      { ...picture, items: picture.items.slice(0, picture.step) },
      { kind: "retry", reason, attempt, seconds },
    ),

  StepFinished: (picture) => closed(picture),

  ThoughtKept: (picture, { text }) => added(picture, { kind: "thought", text }),

  Informed: (picture, { what }) => added(picture, { kind: "info", what }),

  Warned: (picture, { what }) => added(picture, { kind: "warning", what }),

  ToolStarted: (picture, packet) =>
    packet.is_revised && isRunning(picture, packet.call_id)
      ? changedCall(picture, packet, () => ({ arguments: packet.arguments, isRevised: true, question: null }))
      : added(closed(picture), call(packet)),

  ApprovalAsked: (picture, packet) => {
    const { risk, why, pattern, preview, may_revise = false } = packet;
    return changedCall(picture, packet, () => ({ question: { risk, why, pattern, preview, may_revise } }));
  },

  ToolOutput: (picture, packet) =>
    changedCall(picture, packet, ({ output }) => ({ output: longer(output, packet.text) })),

  ToolFinished: (picture, packet) => {
    const { state, card, seconds, changes = [] } = packet;
    return changedCall(picture, packet, () => ({
      state,
      card,
      seconds,
      changes,
      question: null,
      output: { text: "", dropped: 0 },
    }));
  },

  CommandAnswered: (picture, { command, card = null, ok = true, effect = "" }) => {
    if (effect === "clear") return { ...picture, items: [], step: 0 };
    return added(picture, { kind: "command", command, card, ok });
  },

  TurnFinished: (
    picture,
    { why, detail = null, seconds = 0, usage = {}, still_open: stillOpen = null },
  ) => {
    const end = { kind: "end", why, detail, seconds, usage, stillOpen, turn: picture.turn };
    return { ...added(abandoned(answered(closed(picture))), end), isRunning: false };
  },
};

/** The names of all events the page knows. */
export const EVENTS = Object.keys(DRAWN);

/**
 * Returns the picture after *packet*; neither argument is changed.
 * @param {Picture} picture
 * @param {Packet} packet
 * @returns {Picture}
 */
export function apply(picture, packet) {
  const draw = DRAWN[packet.type];
  const settled = picture.drafted ? { ...picture, drafted: null } : picture;
  return draw ? draw(settled, packet) : settled;
}

/**
 * @param {Packet[]} events
 * @param {Picture} [start]
 */
export const applyAll = (events, start = emptyPicture()) => events.reduce(apply, start);

/**
 * Puts the turns of *events* before those of *picture*.
 * @param {Picture} picture
 * @param {Packet[]} events
 * @param {number} firstTurn
 * @returns {Picture}
 */
export function withEarlier(picture, events, firstTurn) {
  const earlier = applyAll(events, emptyPicture(`${picture.prefix}t${firstTurn}.`, firstTurn));
  const items = [...earlier.items, ...picture.items];
  return { ...picture, items, firstTurn, step: picture.step + earlier.items.length };
}

const call = ({ call_id, name, arguments: given = {}, is_revised = false }) => ({
  kind: "call",
  id: call_id,
  name,
  arguments: given,
  isRevised: is_revised,
  state: "running",
  output: { text: "", dropped: 0 },
  question: null,
  card: null,
  seconds: 0,
  changes: [],
});

function added(picture, item) {
  const key = `${picture.prefix}${picture.serial}`;
  return { ...picture, items: [...picture.items, { key, ...item }], serial: picture.serial + 1 };
}

function changedAt(picture, index, change) {
  const items = picture.items.slice();
  items[index] = { ...items[index], ...change };
  return { ...picture, items };
}

const changedLast = (picture, change) => changedAt(picture, picture.items.length - 1, change);

/** A call that was never announced is announced here, so that no answer is ever without its call. */
function changedCall(picture, packet, change) {
  const index = picture.items.findLastIndex((item) => item.kind === "call" && item.id === packet.call_id);
  if (index < 0) return changedCall(added(picture, call(packet)), packet, change);
  return changedAt(picture, index, change(picture.items[index]));
}

/** Text and thinking that were being written are whole now. */
function closed(picture) {
  const last = picture.items.at(-1);
  if (last?.kind === "text" && !last.done) return changedLast(picture, { done: true });
  if (last?.kind === "thinking" && last.seconds === null) return changedLast(picture, { seconds: 0 });
  return picture;
}

const isRunning = (picture, id) =>
  picture.items.findLast((item) => item.kind === "call" && item.id === id)?.state === "running";

/** A question about the task itself comes after its call, and is over when the task goes on. */
function answered(picture) {
  const isOpen = (item) => item.kind === "call" && item.question && item.state !== "running";
  if (!picture.items.some(isOpen)) return picture;
  return { ...picture, items: picture.items.map((item) => (isOpen(item) ? { ...item, question: null } : item)) };
}

/** A turn that is over leaves no call running. */
function abandoned(picture) {
  const isLeft = (item) => item.kind === "call" && item.state === "running";
  if (!picture.items.some(isLeft)) return picture;
  const items = picture.items.map((item) =>
    isLeft(item) ? { ...item, state: "stopped", question: null } : item,
  );
  return { ...picture, items };
}

function longer({ text, dropped }, more) {
  const whole = text + more;
  if (whole.length <= OUTPUT_KEPT) return { text: whole, dropped };
  const cut = whole.length - OUTPUT_KEPT;
  return { text: whole.slice(cut), dropped: dropped + cut };
}
