// Cells of tables as numbers, and rows as comma separated values; pure.

/** The number that *text* is, with its sign, unit of money, thousands and per cent; else null. */
export function numberOf(text) {
  const found = /^([-−+]?)[$€£¥]?\s?(\d{1,3}(?:[, ]\d{3})+|\d+)?(\.\d+)?(e[-+]?\d+)?\s?[%$€£¥]?$/i.exec(text);
  if (!found || !(found[2] || found[3])) return null;
  const value = Number(`${(found[2] ?? "0").replace(/[, ]/g, "")}${found[3] ?? ""}${found[4] ?? ""}`);
  return found[1] && found[1] !== "+" ? -value : value;
}

/** @param {string[][]} rows @returns {string} as RFC 4180 has it */
export const csv = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");

const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
