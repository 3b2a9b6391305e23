// Terminal text to styled spans: only colours and weights are honoured, all else is dropped.

/** @typedef {{text: string, classes: string}} Span */
/** @typedef {{fg: string, bg: string, flags: string[]}} Style */

const SEQUENCE =
  /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][\s\S]*?(?:\x1b\\|$)|[ -/]*[0-~]?)/g;
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const FLAGS = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };
const OFF = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["strike"] };

/** @returns {Style} */
export const plain = () => ({ fg: "", bg: "", flags: [] });

/**
 * @param {string} text
 * @param {Style} style where the text before left off; the result says where this one does
 * @returns {{spans: Span[], style: Style}}
 */
export function spans(text, style = plain()) {
  const found = [];
  let at = 0;
  let now = style;
  const add = (piece) => {
    const clean = piece.replace(CONTROL, "");
    if (clean) found.push({ text: clean, classes: classesOf(now) });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") now = restyled(now, match[1]);
  }
  add(text.slice(at));
  return { spans: found, style: now };
}

/** The text alone. @param {string} text */
export const stripped = (text) => text.replace(SEQUENCE, "").replace(CONTROL, "");

/** @param {Style} style */
function classesOf(style) {
  return [style.fg && `fg-${style.fg}`, style.bg && `bg-${style.bg}`, ...style.flags]
    .filter(Boolean)
    .join(" ");
}

/**
 * @param {Style} style
 * @param {string} parameters
 * @returns {Style}
 */
function restyled(style, parameters) {
  const codes = parameters.split(/[;:]/).map(Number);
  let next = { ...style };
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index];
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(index + 1));
      next = { ...next, [code === 38 ? "fg" : "bg"]: colour };
      index += used;
    } else next = simple(next, code);
  }
  return next;
}

/**
 * @param {Style} style
 * @param {number} code
 * @returns {Style}
 */
function simple(style, code) {
  if (code === 0 || Number.isNaN(code)) return plain();
  if (FLAGS[code]) return { ...style, flags: [...new Set([...style.flags, FLAGS[code]])] };
  if (OFF[code]) return { ...style, flags: style.flags.filter((flag) => !OFF[code].includes(flag)) };
  if (code === 39) return { ...style, fg: "" };
  if (code === 49) return { ...style, bg: "" };
  const [kind, base] =
    code >= 100 ? ["bg", 92] : code >= 90 ? ["fg", 82] : code >= 40 ? ["bg", 40] : ["fg", 30];
  const colour = code - base;
  return colour >= 0 && colour < 16 ? { ...style, [kind]: String(colour) } : style;
}

/** Brings 256 and 24-bit colours down to the sixteen there are classes for. */
function extended([kind, ...rest]) {
  if (kind === 5) return [nearest256(rest[0] ?? 0), 2];
  if (kind === 2) return [nearest(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), 4];
  return ["", 0];
}

function nearest256(index) {
  if (index < 16) return String(index);
  if (index >= 232) return nearest(...Array(3).fill((index - 232) * 10 + 8));
  const cube = index - 16;
  return nearest(...[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => level * 51));
}

function nearest(red, green, blue) {
  const high = Math.max(red, green, blue);
  const bits = [red, green, blue].map((level) => (high > 0 && level > high * 0.6 ? 1 : 0));
  if (high < 48) return "0";
  if (bits.every(Boolean) && high - Math.min(red, green, blue) < 48)
    return high < 100 ? "8" : high < 200 ? "7" : "15";
  return String(bits[0] + 2 * bits[1] + 4 * bits[2] + (high > 191 ? 8 : 0));
}

/** Keeps of each line what a terminal would show after carriage returns. @param {string} text */
export function overwritten(text) {
  if (!text.includes("\r")) return text;
  return text.replace(/\r\n/g, "\n").replace(/[^\n]*\r(?!$)/g, "");
}
