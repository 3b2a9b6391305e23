// Cells of tables as numbers, and rows as comma separated values; pure.

const NUMBERS = {
  ".": /^([-−+]?)[$€£¥]?\s?(\d{1,3}(?:[, ]\d{3})+|\d+)?(?:\.(\d+))?(e[-+]?\d+)?\s?[%$€£¥]?$/i,
  ",": /^([-−+]?)[$€£¥]?\s?(\d{1,3}(?:[. ]\d{3})+|\d+)?(?:,(\d+))?(e[-+]?\d+)?\s?[%$€£¥]?$/i,
};

/**
 * The number that *text* is, with its sign, unit of money, thousands and per cent; else null.
 * @param {string} text @param {"." | ","} mark before its decimals
 */
export function numberOf(text, mark = ".") {
  const [, sign, whole, decimals, exponent = ""] = NUMBERS[mark].exec(text) ?? [];
  if (!whole && !decimals) return null;
  const value = Number(`${(whole ?? "0").replace(/[,. ]/g, "")}.${decimals ?? "0"}${exponent}`);
  return sign && sign !== "+" ? -value : value;
}

/** The mark of decimals in a column of *texts*: "1,5" can only be a number with a comma, "1,500" be either. */
export const decimalMark = (texts) =>
  texts.some((text) => numberOf(text) === null && numberOf(text, ",") !== null) ? "," : ".";

/** @param {string[][]} rows @returns {string} as RFC 4180 has it */
export const csv = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");

const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
