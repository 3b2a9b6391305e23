// Numbers, paths and text as people read them; pure.

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** @param {number} bytes */
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** 950 -> "950", 8123 -> "8.1 k", 1048576 -> "1.0 M". @param {number} tokens */
export function count(tokens) {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${(tokens / 1000).toFixed(tokens < 99_500 ? 1 : 0)} k`;
  return `${(tokens / 1e6).toFixed(1)} M`;
}

/** @param {number} dollars */
export function money(dollars) {
  return dollars === 0 ? "$0" : `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}

/** The last part of a path. @param {string} path */
export const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);

/** All before the last part, "" at the top. @param {string} path */
export const folderOf = (path) => (path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** Shows control, bidirectional and invisible characters as escapes. @param {string} text */
export const visible = (text) => text.replace(HIDDEN, escaped);

/**
 * Shows as escapes what would put the text around it in another order, and leaves the rest alone:
 * joiners belong to the letters of many languages.
 * @param {string} text
 */
export const legible = (text) => text.replace(TURNING, escaped);

function escaped(character) {
  const code = character.charCodeAt(0);
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, "0")}`
    : `\\u${code.toString(16).padStart(4, "0")}`;
}
