// Mentions in what is being written: commands and files; pure.

/**
 * Returns what is being completed at the cursor: a command at the very start, a file after
 * an "@", or an argument: another word of a line that begins with a command.
 * @param {string} text
 * @param {number} cursor
 * @returns {{kind: "command" | "file" | "argument", word: string, start: number} | null}
 */
export function wordAt(text, cursor) {
  const before = text.slice(0, cursor);
  if (/^\/\S*$/.test(before)) return { kind: "command", word: before, start: 0 };
  const at = /(?:^|[\s(（「“《，。；：！？、\p{Script=Han}])@([^\s@]*)$/u.exec(before); // Chinese has no blanks
  if (at) return { kind: "file", word: at[1], start: cursor - at[1].length - 1 };
  const argument = /^\/\S+ (?:.* )?(\S*)$/.exec(before);
  return argument ? { kind: "argument", word: argument[1], start: cursor - argument[1].length } : null;
}

/** Names the file at *path* in a message: in quotes if nobody could tell where it ends. @param {string} path */
export const mention = (path) => (/\s/.test(path) ? `@"${path}" ` : `@${path} `);
