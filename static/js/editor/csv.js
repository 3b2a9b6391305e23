// Comma, semicolon or tab separated text to rows; pure.

/**
 * @param {string} text
 * @param {number} most rows to return
 * @returns {string[][]}
 */
export function rows(text, most = Infinity) {
  const separator = guess(text);
  const found = [];
  let row = [""];
  let quoted = false;
  for (let at = 0; at < text.length && found.length < most; at += 1) {
    const character = text[at];
    const last = row.length - 1;
    if (quoted) {
      if (character !== '"') row[last] += character;
      else if (text[at + 1] === '"') row[last] += text[(at += 1)];
      else quoted = false;
    } else if (character === '"' && !row[last]) quoted = true;
    else if (character === separator) row.push("");
    else if (character === "\n") {
      found.push(row);
      row = [""];
    } else if (character !== "\r") row[last] += character;
  }
  if (found.length < most && (row.length > 1 || row[0])) found.push(row);
  return found;
}

/** *rows* with empty cells where one is shorter than the longest. @param {string[][]} rows @returns {string[][]} */
export function evened(rows) {
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  return rows.map((row) => [...row, ...Array(width - row.length).fill("")]);
}

/** @param {string} text */
function guess(text) {
  const line = text.slice(0, text.indexOf("\n") >>> 0);
  const times = (separator) => line.split(separator).length;
  return [",", ";", "\t"].reduce((best, each) => (times(each) > times(best) ? each : best));
}
