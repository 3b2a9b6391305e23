// What the person is about to name while writing; pure.

/**
 * What is being completed at the cursor: a command at the very start, or a file after an "@".
 * @param {string} text
 * @param {number} cursor
 * @returns {{kind: "command" | "file", word: string, start: number} | null}
 */
export function wordAt(text, cursor) {
  const before = text.slice(0, cursor);
  if (/^\/\S*$/.test(before)) return { kind: "command", word: before, start: 0 };
  const at = /(?:^|\s)@([^\s@]*)$/.exec(before);
  return at ? { kind: "file", word: at[1], start: cursor - at[1].length - 1 } : null;
}

/** How a message names the file at *path*: in quotes if nobody could tell where it ends. @param {string} path */
export const mention = (path) => (/\s/.test(path) ? `@"${path}" ` : `@${path} `);
