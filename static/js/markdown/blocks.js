// The ends of blocks in growing Markdown; pure.

const GOES_ON = /^\s|^[-*+>|]|^\d+[.)]/;

/**
 * The offset behind the last blank line of *text* at which a block surely ended: outside of code
 * fences, and what follows does not go on with a list, a quote or an indented part.
 * @param {string} text
 */
export function settledEnd(text) {
  let fence = "";
  let end = 0;
  for (let start = 0; start < text.length;) {
    const stop = text.indexOf("\n", start);
    if (stop < 0) break;
    const line = text.slice(start, stop);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence) {
      if (closes(line, mark, fence)) {
        fence = "";
        end = stop + 1;
      }
    } else if (mark) fence = mark;
    else if (!line.trim() && isNewBlock(text.slice(stop + 1, stop + 12))) end = stop + 1;
    start = stop + 1;
  }
  return end;
}

const closes = (line, mark, fence) =>
  mark && mark[0] === fence[0] && mark.length >= fence.length && !line.trim().replace(/[`~]/g, "");

const isNewBlock = (next) => next.length >= 4 && !GOES_ON.test(next);
