// Writing in a line so long that only a piece of it is drawn.
//
// What the browser itself writes into a line, CodeMirror finds by reading the whole line back and comparing
// it with the text before: tens of milliseconds for each key in a line of 3 MB. So what is typed
// there goes into the text at once, and the browser is only shown what came of it.

/** Characters of a line from which on it is written so; shorter ones are read back in no time. */
export const LONG_LINE = 50_000;

/** @param {typeof import("../../vendor/codemirror.js")} cm */
export function longLines(cm) {
  return cm.EditorView.domEventHandlers({
    beforeinput(event, view) {
      const { data, inputType, isComposing } = event;
      if (inputType !== "insertText" || !data || isComposing || view.composing) return false;
      const { state } = view;
      const target = elsewhere(event, view);
      if (state.readOnly || !isInLongLine(state.doc, target ? [target] : state.selection.ranges)) return false;
      event.preventDefault();
      const change = target
        ? { changes: { ...target, insert: data }, selection: { anchor: target.from + data.length } }
        : state.replaceSelection(data);
      view.dispatch(change, { userEvent: "input.type", scrollIntoView: true });
      return true;
    },
  });
}

/**
 * What the browser would replace, where that is not what is selected: a keyboard that corrects the
 * word before the cursor. @returns {{from: number, to: number} | null}
 */
function elsewhere(event, view) {
  const [range] = event.getTargetRanges();
  if (!range) return null;
  const from = view.posAtDOM(range.startContainer, range.startOffset);
  const to = view.posAtDOM(range.endContainer, range.endOffset);
  const { main } = view.state.selection;
  return from === main.from && to === main.to ? null : { from, to };
}

/** Whether one of *ranges* lies in a long line. */
function isInLongLine(doc, ranges) {
  return ranges.some(({ from, to }) => [from, to].some((at) => doc.lineAt(at).length >= LONG_LINE));
}
