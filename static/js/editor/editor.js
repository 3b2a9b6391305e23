// CodeMirror in a shadow root, where our content policy lets it keep its styles.

import { h } from "../lib/dom.js";
import { loadEditor } from "../lib/vendor.js";
import { t } from "../i18n/translate.js";
import { longLines } from "./long_lines.js";

const cm = await loadEditor();

const THEME = cm.EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused::after": { content: '""', position: "absolute", inset: "0", border: "1px solid var(--accent)", pointerEvents: "none", zIndex: 300 }, // also over the line numbers
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--surface)",
    color: "var(--muted)",
    border: "none",
    paddingLeft: "4px",
  },
  ".cm-lineNumbers .cm-gutterElement": { whiteSpace: "pre" },
  ".cm-noted": { boxShadow: "inset 2px 0 var(--accent)" },
  ".cm-noted.stale": { boxShadow: "inset 2px 0 var(--warn)" },
  ".cm-why": { background: "linear-gradient(var(--why) 0 0) 0 0 / 3px 100% no-repeat" },
  ".cm-why-call": { "--why": "var(--accent)" },
  ".cm-why-person": { "--why": "var(--good)" },
  ".cm-why-others": { "--why": "var(--warn)" },
  ".cm-why-before, .cm-why-unknown": { "--why": "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "var(--selection) !important",
  },
  ".cm-panels": { backgroundColor: "var(--side)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-panels input": { background: "var(--surface)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-panels button": {
    background: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "4px",
  },
  ".cm-searchMatch": { backgroundColor: "var(--mark)" },
  ".cm-foldPlaceholder": { background: "var(--hover)", border: "none", color: "var(--muted)" },
});

const { tags } = cm;
const COLOURS = cm.HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.comment, tags.meta], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  {
    tag: [
      tags.function(tags.variableName),
      tags.function(tags.propertyName),
      tags.definition(tags.function(tags.variableName)),
      tags.heading,
    ],
    color: "var(--code-title)",
  },
  { tag: [tags.typeName, tags.className, tags.tagName], color: "var(--code-type)" },
  { tag: [tags.propertyName, tags.attributeName], color: "var(--code-name)" },
  { tag: tags.heading, fontWeight: "600" },
  { tag: tags.link, textDecoration: "underline" },
]);

/** @typedef {{start: number, end: number, text: string, is_stale: boolean}} LineNote lines from 1 */

const NOTE_MARK = "● ";
const setNotes = cm.StateEffect.define();

/** The lines that notes are on; they go along with what is typed. */
const NOTED_LINES = cm.StateField.define({
  create: () => cm.Decoration.none,
  update(lines, transaction) {
    const notes = transaction.effects.findLast((effect) => effect.is(setNotes))?.value;
    return notes ? linesOf(notes, transaction.state.doc) : lines.map(transaction.changes);
  },
  provide: (field) => cm.EditorView.decorations.from(field),
});

/** @param {LineNote[]} notes */
function linesOf(notes, doc) {
  const texts = new Map();
  for (const note of notes) {
    for (let line = note.start; line <= Math.min(note.end, doc.lines); line += 1) {
      texts.set(line, [...(texts.get(line) ?? []), note]);
    }
  }
  const ranges = [...texts].map(([line, found]) => decorated(found).range(doc.line(line).from));
  return cm.Decoration.set(ranges, true);
}

/** @param {LineNote[]} notes */
function decorated(notes) {
  const words = ({ text, is_stale }) => (is_stale ? t("{text} (outdated: its lines have changed)", { text }) : text);
  return cm.Decoration.line({
    class: notes.some(({ is_stale }) => is_stale) ? "cm-noted stale" : "cm-noted",
    attributes: { title: notes.map(words).join("\n") },
  });
}

function isNoted(state, line) {
  const lines = state.field(NOTED_LINES, false);
  if (!lines || line > state.doc.lines) return false;
  const { from } = state.doc.line(line);
  let found = false;
  lines.between(from, from, () => {
    found = true;
  });
  return found;
}

/** @typedef {{ranges: [number, number][], writer: string, title: string}} MarkedOrigin lines from 1 */

const setOrigins = cm.StateEffect.define();

/** Who wrote the lines; they go along with what is typed, and new lines have nobody. */
const ORIGINS = cm.StateField.define({
  create: () => cm.Decoration.none,
  update(lines, transaction) {
    const origins = transaction.effects.findLast((effect) => effect.is(setOrigins))?.value;
    return origins ? originsOf(origins, transaction.state.doc) : carried(lines, transaction);
  },
  provide: (field) => cm.EditorView.decorations.from(field),
});

/** Moves the marks with the text; a line keeps its own where lines are put before it. */
function carried(lines, { changes, startState, newDoc }) {
  /** @type {Map<number, number>} */
  const moved = new Map();
  changes.iterChanges((from, to, _, end, inserted) => {
    const line = startState.doc.lineAt(from);
    const isBefore = to <= line.to && !/\S/.test(startState.doc.sliceString(line.from, to));
    if (inserted.lines > 1 && isBefore) moved.set(changes.mapPos(line.from), newDoc.lineAt(end).from);
  });
  const mapped = lines.map(changes);
  const marks = [...moved].flatMap(([from, to]) => marksAt(mapped, from).map((mark) => mark.range(to)));
  return marks.length ? mapped.update({ filter: (at) => !moved.has(at), add: marks, sort: true }) : mapped;
}

function marksAt(lines, from) {
  const marks = [];
  lines.between(from, from, (at, _, mark) => {
    if (at === from) marks.push(mark);
  });
  return marks;
}

/** @param {MarkedOrigin[]} origins */
function originsOf(origins, doc) {
  const marks = origins.flatMap(({ ranges, writer, title }, index) => {
    const mark = cm.Decoration.line({ class: `cm-why cm-why-${writer}`, attributes: { title }, index });
    return ranges.flatMap(([from, to]) => {
      const last = Math.min(to, doc.lines);
      return Array.from({ length: Math.max(0, last - from + 1) }, (_, n) => mark.range(doc.line(from + n).from));
    });
  });
  return cm.Decoration.set(marks, true);
}

export class Editor {
  /** The number of the first line: 1 but in a part of a file; null where it is not known. */
  firstLine = 1;

  #numbers = new cm.Compartment();

  /** @param {{text: string, language: string, isReadOnly: boolean, changed: () => void, save: () => void, selected: () => void}} options */
  constructor({ text, language, isReadOnly, changed, save, selected }) {
    this.element = h("div", { class: "editor" });
    const shadow = this.element.attachShadow({ mode: "open" });
    const syntax = cm.languages[language]?.();
    this.view = new cm.EditorView({
      root: shadow,
      parent: shadow,
      state: cm.EditorState.create({
        doc: text,
        extensions: [
          this.#numbers.of(this.#gutter()),
          NOTED_LINES,
          ORIGINS,
          cm.foldGutter(),
          cm.highlightSpecialChars(),
          cm.history(),
          cm.drawSelection(),
          cm.indentOnInput(),
          longLines(cm),
          cm.bracketMatching(),
          cm.rectangularSelection(),
          cm.highlightActiveLine(),
          cm.highlightActiveLineGutter(),
          cm.highlightSelectionMatches(),
          cm.search({ top: true }),
          cm.syntaxHighlighting(COLOURS),
          THEME,
          cm.EditorState.allowMultipleSelections.of(true),
          cm.indentUnit.of(indentOf(text)),
          cm.EditorState.readOnly.of(isReadOnly),
          cm.EditorView.contentAttributes.of({ "aria-label": t("File content"), tabindex: "0" }),
          cm.keymap.of([
            {
              key: "Mod-s",
              run: () => {
                save();
                return true;
              },
            },
            ...cm.defaultKeymap,
            ...cm.historyKeymap,
            ...cm.searchKeymap,
            ...cm.foldKeymap,
            cm.indentWithTab,
          ]),
          cm.EditorView.updateListener.of((update) => {
            if (update.docChanged) changed();
            if (update.selectionSet || update.focusChanged) selected();
          }),
          ...(syntax ? [syntax] : []),
        ],
      }),
    });
  }

  #gutter() {
    return cm.lineNumbers({
      formatNumber: (line, state) => this.#labelOf(line, state),
      domEventHandlers: { click: (view, { from }) => this.#enterLine(view, from) },
    });
  }

  #labelOf(line, state) {
    const number = this.firstLine === null ? "" : String(line + this.firstLine - 1);
    return isNoted(state, line) ? `${NOTE_MARK}${number}` : number;
  }

  /** Puts the cursor on a line whose number is clicked. */
  #enterLine(view, from) {
    view.dispatch({ selection: { anchor: from } });
    view.focus();
    return true;
  }

  /** Marks the lines by who wrote them; none for []. @param {MarkedOrigin[]} origins */
  showOrigins(origins) {
    this.view.dispatch({ effects: setOrigins.of(origins) });
  }

  /** The line with the cursor, and which of the origins is its own; null for none. */
  get originHere() {
    const { doc, selection } = this.view.state;
    const { number, from } = doc.lineAt(selection.main.head);
    const [mark] = marksAt(this.view.state.field(ORIGINS), from);
    return { line: number, index: mark ? mark.spec.index : null };
  }

  /** Marks the lines that notes are on. @param {LineNote[]} notes */
  showNotes(notes) {
    this.view.dispatch({ effects: [setNotes.of(notes), this.#numbers.reconfigure(this.#gutter())] });
  }

  /** Shows *text*, which begins with the line *firstLine*, from its beginning. */
  turnTo(text, firstLine) {
    this.firstLine = firstLine;
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      selection: { anchor: 0 },
      scrollIntoView: true,
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  /** Makes the text *text*, touching only what differs, so that the cursor and the scroll stay. */
  replace(text) {
    const old = this.text;
    let start = 0;
    const least = Math.min(old.length, text.length);
    while (start < least && old[start] === text[start]) start += 1;
    let end = 0;
    while (end < least - start && old[old.length - 1 - end] === text[text.length - 1 - end]) end += 1;
    this.replaceRange(start, old.length - end, text.slice(start, text.length - end));
  }

  focus() {
    this.view.focus();
  }

  /** Writes *text* as if it were typed. @param {string} text */
  write(text) {
    const { state } = this.view;
    if (!state.readOnly) this.view.dispatch(state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
  }

  replaceRange(from, to, insert) {
    this.view.dispatch({ changes: { from, to, insert } });
  }

  /** The selection, with its lines from 1 and its place on the screen; null: nothing. */
  get selection() {
    const { doc, selection } = this.view.state;
    const { from, to, empty } = selection.main;
    const place = empty ? null : this.view.coordsAtPos(from, 1);
    if (!place || !this.view.hasFocus) return null;
    // A selection that ends at the start of a line does not reach into it.
    const end = to > from && doc.lineAt(to).from === to ? to - 1 : to;
    return {
      text: doc.sliceString(from, to),
      first: doc.lineAt(from).number + (this.firstLine ?? 1) - 1,
      last: doc.lineAt(end).number + (this.firstLine ?? 1) - 1,
      place: { left: place.left, top: place.top, bottom: place.bottom },
    };
  }

  /** @param {number} line from 1 */
  goTo(line) {
    const { doc } = this.view.state;
    const wanted = line - (this.firstLine ?? 1) + 1;
    this.goToOffset(doc.line(Math.max(1, Math.min(wanted, doc.lines))).from);
  }

  goToOffset(offset) {
    requestAnimationFrame(() =>
      this.view.dispatch({
        selection: { anchor: Math.min(offset, this.view.state.doc.length) },
        effects: cm.EditorView.scrollIntoView(Math.min(offset, this.view.state.doc.length), { y: "center" }),
      }),
    );
  }

  destroy() {
    this.view.destroy();
  }
}

/** @param {string} text */
function indentOf(text) {
  const first = /^([ \t]+)\S/m.exec(text)?.[1] ?? "    ";
  return first.startsWith("\t") ? "\t" : " ".repeat(Math.min(8, Math.max(2, first.length)));
}
