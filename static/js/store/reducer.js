// The transcript of a session: a pure function of the events that came, in order.

/** @typedef {import("../i18n/phrases.js").Text} Text */
/** @typedef {import("../i18n/phrases.js").Phrase} Phrase */
/** @typedef {{kind: string, [field: string]: any}} Card */
/** @typedef {{type: string, seq?: number, [field: string]: any}} Packet */
/** @typedef {{risk: string, why: Text, pattern: string, preview: Card, may_revise: boolean, may_last: boolean, choices: string[], of?: Packet}} Question */
/**
 * One thing in the conversation; `key` is unique in its transcript, and an item that changed is
 * another object.
 * @typedef {{key: string, kind: "person", text: string, turn: number, cmd: string, pictures?: any[]}
 *   | {key: string, kind: "thinking", text: string, seconds: number | null}
 *   | {key: string, kind: "text", text: string, done: boolean, sources?: Sources}
 *   | {key: string, kind: "call", id: string, name: string, arguments: Record<string, any>,
 *      state: "running" | "done" | "failed" | "refused" | "stopped", output: Output,
 *      helper?: any[], isRevised: boolean, question: Question | null, card: Card | null, seconds: number, changes: any[]}
 *   | {key: string, kind: "retry", reason: Text, attempt: number, seconds: number}
 *   | {key: string, kind: "waiting", why: Text, until: number}
 *   | {key: string, kind: "thought", text: string}
 *   | {key: string, kind: "warning", what: Text}
 *   | {key: string, kind: "info", what: Text, command: string}
 *   | {key: string, kind: "command", command: string, card: Card | null, ok: boolean}
 *   | {key: string, kind: "end", why: string, detail: Text | null, seconds: number, usage: any, stillOpen: Text | null, turn: number}} Item
 */
/** @typedef {Record<number, {url: string, title: string}>} Sources by number */
/** @typedef {{text: string, dropped: number}} Output `dropped` characters came before `text` */
/**
 * @typedef {{items: Item[], firstTurn: number, turn: number, step: number, isRunning: boolean,
 *   drafted: {name: string, characters: number} | null, serial: number, prefix: string,
 *   sources: Sources | null}} Transcript
 * `step` is the place in `items` where the running model call began.
 */

const OUTPUT_KEPT = 1_200_000;

/**
 * @param {string} [prefix] of the keys
 * @param {number} [firstTurn]
 * @returns {Transcript}
 */
export function emptyTranscript(prefix = "", firstTurn = 1) {
  return { items: [], firstTurn, turn: 0, step: 0, isRunning: false, drafted: null, serial: 0, prefix, sources: null };
}

/** By event; a test holds the names against the server's. */
const DRAWN = {
  TurnStarted: (transcript, { text, turn, cmd = "", pictures = [] }) =>
    added(
      { ...transcript, turn, isRunning: true, sources: null },
      { kind: "person", text, turn, cmd, ...(pictures.length ? { pictures } : {}) },
    ),

  StepStarted: (transcript) => ({ ...answered(transcript), step: transcript.items.length }),

  ThinkingDelta: (transcript, { text }) => {
    const last = transcript.items.at(-1);
    if (last?.kind === "thinking" && last.seconds === null)
      return changedLast(transcript, { text: last.text + text });
    return added(transcript, { kind: "thinking", text, seconds: null });
  },

  ThinkingFinished: (transcript, { seconds }) =>
    transcript.items.at(-1)?.kind === "thinking" ? changedLast(transcript, { seconds }) : transcript,

  TextDelta: (transcript, { text }) => {
    const last = transcript.items.at(-1);
    if (last?.kind === "text" && !last.done) return changedLast(transcript, { text: last.text + text });
    return added(transcript, { kind: "text", text, done: false });
  },

  CallDrafted: (transcript, { name, characters }) => ({ ...transcript, drafted: { name, characters } }),

  Retrying: (transcript, { reason, attempt, seconds }) =>
    added(
      { ...transcript, items: transcript.items.slice(0, transcript.step) },
      { kind: "retry", reason, attempt, seconds },
    ),

  StepFinished: (transcript) => closed(transcript),

  ThoughtKept: (transcript, { text }) => added(transcript, { kind: "thought", text }),

  Informed: (transcript, { what, command = "" }) => added(transcript, { kind: "info", what, command }),

  Waiting: (transcript, { why, until }) => added(transcript, { kind: "waiting", why, until }),

  Warned: (transcript, { what }) => added(transcript, { kind: "warning", what }),

  ToolStarted: (transcript, packet) =>
    packet.is_revised && isRunning(transcript, packet.call_id)
      ? changedCall(transcript, packet, () => ({ arguments: packet.arguments, isRevised: true, question: null }))
      : added(closed(transcript), call(packet)),

  ApprovalAsked: (transcript, packet) => {
    const { risk, why, pattern, preview, may_revise = false, may_last = false, choices = [], key = "" } = packet;
    const of = packet.arguments && { of: packet }; // what a helper wants to do
    return changedCall(transcript, packet, () => ({ question: { risk, why, pattern, preview, may_revise, may_last, choices, key, ...of } }));
  },

  ToolOutput: (transcript, packet) =>
    changedCall(transcript, packet, ({ output }) => ({ output: longer(output, packet.text) })),

  ToolFinished: (transcript, packet) => {
    const { state, card, seconds, changes = [] } = packet;
    return changedCall(withSources(transcript, card), packet, () => ({
      state,
      card,
      seconds,
      changes,
      question: null,
      output: { text: "", dropped: 0 },
    }));
  },

  HelperEvent: (transcript, { parent, event }) =>
    changedCall(transcript, { call_id: parent }, ({ helper = [] }) => ({ helper: [...helper, event], question: null })),

  CommandAnswered: (transcript, { command, card = null, ok = true, effect = "" }) => {
    if (effect === "clear") return { ...transcript, items: [], step: 0 };
    return added(transcript, { kind: "command", command, card, ok });
  },

  TurnFinished: (
    transcript,
    {
      why,
      detail = null,
      seconds = 0,
      usage = {},
      still_open: stillOpen = null,
      citations = [],
      unknown_citations: unknown = [],
      receipts = [],
      claims = [],
    },
  ) => {
    const { turn } = transcript;
    const end = { kind: "end", why, detail, seconds, usage, stillOpen, citations, unknown, receipts, claims, turn };
    return { ...added(abandoned(answered(closed(transcript))), end), isRunning: false };
  },
};

export const EVENTS = Object.keys(DRAWN);

/**
 * Returns the transcript after *packet*; neither argument is changed.
 * @param {Transcript} transcript
 * @param {Packet} packet
 * @returns {Transcript}
 */
export function apply(transcript, packet) {
  const draw = DRAWN[packet.type];
  const settled = transcript.drafted ? { ...transcript, drafted: null } : { ...transcript };
  if (settled.items.at(-1)?.kind === "waiting") settled.items = settled.items.slice(0, -1);
  return draw ? draw(settled, packet) : settled;
}

/**
 * @param {Packet[]} events
 * @param {Transcript} [start]
 */
export const applyAll = (events, start = emptyTranscript()) => events.reduce(apply, start);

/**
 * Puts the turns of *events* before those of *transcript*.
 * @param {Transcript} transcript
 * @param {Packet[]} events
 * @param {number} firstTurn
 * @returns {Transcript}
 */
export function withEarlier(transcript, events, firstTurn) {
  const earlier = applyAll(events, emptyTranscript(`${transcript.prefix}t${firstTurn}.`, firstTurn));
  const items = [...earlier.items, ...transcript.items];
  return { ...transcript, items, firstTurn, step: transcript.step + earlier.items.length };
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

function added(transcript, item) {
  const key = `${transcript.prefix}${transcript.serial}`;
  return { ...transcript, items: [...transcript.items, { key, ...item }], serial: transcript.serial + 1 };
}

function changedAt(transcript, index, change) {
  const items = transcript.items.slice();
  items[index] = { ...items[index], ...change };
  return { ...transcript, items };
}

const changedLast = (transcript, change) => changedAt(transcript, transcript.items.length - 1, change);

/** A call that was never announced is announced here. */
function changedCall(transcript, packet, change) {
  const index = transcript.items.findLastIndex((item) => item.kind === "call" && item.id === packet.call_id);
  if (index < 0) return changedCall(added(transcript, call(packet)), packet, change);
  return changedAt(transcript, index, change(transcript.items[index]));
}

/** Numbers of sources hold to the end of the task. */
function withSources(transcript, card) {
  const read = card?.kind === "links" ? card.links.filter(({ n }) => n) : [];
  if (!read.length) return transcript;
  const sources = Object.fromEntries(read.map(({ n, url, title }) => [n, { url, title }]));
  return { ...transcript, sources: { ...sources, ...transcript.sources } };
}

/** What was being written is whole now. */
function closed(transcript) {
  const last = transcript.items.at(-1);
  const { sources } = transcript;
  if (last?.kind === "text" && !last.done) return changedLast(transcript, { done: true, ...(sources && { sources }) });
  if (last?.kind === "thinking" && last.seconds === null) return changedLast(transcript, { seconds: 0 });
  return transcript;
}

const isRunning = (transcript, id) =>
  transcript.items.findLast((item) => item.kind === "call" && item.id === id)?.state === "running";

/** A question about the task itself comes after its call, and is over when the task goes on. */
function answered(transcript) {
  const isOpen = (item) => item.kind === "call" && item.question && item.state !== "running";
  if (!transcript.items.some(isOpen)) return transcript;
  return { ...transcript, items: transcript.items.map((item) => (isOpen(item) ? { ...item, question: null } : item)) };
}

/** No call outlives its turn. */
function abandoned(transcript) {
  const isLeft = (item) => item.kind === "call" && item.state === "running";
  if (!transcript.items.some(isLeft)) return transcript;
  const items = transcript.items.map((item) =>
    isLeft(item) ? { ...item, state: "stopped", question: null } : item,
  );
  return { ...transcript, items };
}

function longer({ text, dropped }, more) {
  const whole = text + more;
  if (whole.length <= OUTPUT_KEPT) return { text: whole, dropped };
  const cut = whole.length - OUTPUT_KEPT;
  return { text: whole.slice(cut), dropped: dropped + cut };
}
