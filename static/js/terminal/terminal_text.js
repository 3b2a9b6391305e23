// The text of a terminal, for a message.

const MOST = 10_000; // characters

/** What is selected, else what is seen. @param {any} term of xterm.js */
export function shownText(term) {
  if (term.hasSelection()) return term.getSelection();
  const buffer = term.buffer.active;
  const lines = [];
  for (let at = buffer.viewportY; at < buffer.viewportY + term.rows; at += 1) {
    const line = buffer.getLine(at);
    const text = line?.translateToString(!buffer.getLine(at + 1)?.isWrapped) ?? "";
    if (line?.isWrapped && lines.length) lines.push(lines.pop() + text);
    else lines.push(text);
  }
  return lines.join("\n");
}

/** The end of *text* as a block of a message that nothing in it can close; "" for none. */
export function fenced(text) {
  const kept = text.replace(/\s+$/, "").replace(/^(?:[^\S\n]*\n)+/, "");
  if (!kept) return "";
  const end = kept.length > MOST ? `[…]\n${kept.slice(-MOST)}` : kept;
  const longest = Math.max(2, ...[...end.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${end}\n${fence}\n`;
}
