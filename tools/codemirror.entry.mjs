// What the editor of the page uses of CodeMirror, as one file.
export { EditorState, Compartment, StateField, StateEffect, RangeSet } from "@codemirror/state";
export {
  EditorView,
  keymap,
  lineNumbers,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  drawSelection,
  rectangularSelection,
  Decoration,
  WidgetType,
  placeholder,
} from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { search, searchKeymap, highlightSelectionMatches, openSearchPanel } from "@codemirror/search";
export {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
  HighlightStyle,
  StreamLanguage,
} from "@codemirror/language";
export { tags } from "@lezer/highlight";

import { css } from "@codemirror/lang-css";
import { html } from "@codemirror/lang-html";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { python } from "@codemirror/lang-python";
import { StreamLanguage } from "@codemirror/language";
import { c, cpp, csharp, java, kotlin } from "@codemirror/legacy-modes/mode/clike";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { go } from "@codemirror/legacy-modes/mode/go";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { xml } from "@codemirror/legacy-modes/mode/xml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";

const stream = (mode) => () => StreamLanguage.define(mode);

/** Syntax name -> a function that gives its extension. */
export const languages = {
  python,
  json,
  html,
  css,
  markdown,
  javascript: () => javascript({ jsx: true }),
  typescript: () => javascript({ jsx: true, typescript: true }),
  c: stream(c),
  cpp: stream(cpp),
  csharp: stream(csharp),
  java: stream(java),
  kotlin: stream(kotlin),
  diff: stream(diff),
  dockerfile: stream(dockerFile),
  go: stream(go),
  lua: stream(lua),
  ruby: stream(ruby),
  rust: stream(rust),
  bash: stream(shell),
  shell: stream(shell),
  sql: stream(standardSQL),
  toml: stream(toml),
  ini: stream(toml),
  xml: stream(xml),
  yaml: stream(yaml),
};
