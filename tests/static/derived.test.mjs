import assert from "node:assert/strict";
import { test } from "node:test";
import { listedRows, openQuestion } from "../../static/js/store/selectors.js";
import { byDay } from "../../static/js/sessions/days.js";
import { chunked } from "../../static/js/conversation/chunks.js";
import { aged, explored, grouped, marked } from "../../static/js/conversation/grouping.js";
import { matching } from "../../static/js/search/matching.js";
import { wordAt } from "../../static/js/composer/mentions.js";
import { learnTools } from "../../static/js/store/declared.js";

const call = (key, name, more = {}) => ({
  key,
  kind: "call",
  id: key,
  name,
  arguments: {},
  state: "done",
  question: null,
  card: null,
  changes: [],
  ...more,
});

learnTools({
  read_file: { explores: "files" },
  search_text: { explores: "searches" },
  list_files: { explores: "folders" },
  run_command: { explores: "" },
});

test("calls that only look are one group, others are not", () => {
  const items = [
    call("1", "read_file", { arguments: { path: "a" } }),
    call("2", "read_file", { arguments: { path: "a" } }),
    call("3", "search_text"),
    call("4", "run_command"),
    call("5", "list_files"),
  ];
  assert.deepEqual(
    grouped(items).map((item) => item.key),
    ["g1", "4", "g5"],
  );
  assert.deepEqual(explored(items.slice(0, 3)), { files: 1, searches: 1, folders: 0 });
});

test("a look that failed or asks stands alone", () => {
  const items = [
    call("1", "read_file"),
    call("2", "read_file", { state: "failed" }),
    call("3", "read_file", { question: {} }),
  ];
  assert.deepEqual(
    grouped(items).map((item) => item.key),
    ["g1", "2", "3"],
  );
});

test("only the last thing of a session can be an end that is not past", () => {
  const items = [
    { key: "0", kind: "person", turn: 1 },
    { key: "1", kind: "end", turn: 1 },
    { key: "2", kind: "person", turn: 2 },
    { key: "3", kind: "end", turn: 2 },
    { key: "4", kind: "command" },
  ];
  const now = aged(items);
  assert.deepEqual(
    now.map((item) => Boolean(item.isPast)),
    [false, true, false, false, false],
  );
  assert.equal(aged(items)[1], now[1]);
  assert.equal(now[3], items[3]);
});

test("calls and turns that changed files can be undone, and stay the same objects", () => {
  const items = [
    { key: "0", kind: "person", turn: 1 },
    call("1", "create_file"),
    call("2", "read_file"),
    { key: "3", kind: "end", turn: 1 },
    { key: "4", kind: "person", turn: 2 },
    call("1", "create_file"),
    { key: "6", kind: "end", turn: 2 },
  ];
  const mark = (call_id, turn, number, undone) => ({ call_id, turn, number, undone });
  const marks = [mark("1", 1, 1, true), mark("x", 1, 2, false), mark("1", 2, 3, true)];
  const shown = marked(items, marks);
  assert.deepEqual(
    shown.map(({ undoable }) => undoable),
    [
      undefined,
      { number: 1, undone: true },
      undefined,
      { number: 1, undone: false },
      undefined,
      { number: 3, undone: true },
      { number: 2, undone: true },
    ],
  );
  const again = marked(items, marks);
  assert.ok(shown.every((item, place) => item === again[place]));
  assert.equal(marked(items, [])[1], items[1]);
});

test("a question is open only while the state says so", () => {
  const item = call("1", "run_command", { question: { why: "" } });
  assert.equal(openQuestion([item], []), null);
  assert.equal(openQuestion([item], ["1"]), item);
});

test("sessions by day keep their order", () => {
  const rows = [{ updated: 3 }, { updated: 2 }, { updated: 1 }];
  assert.deepEqual(
    byDay(rows, (row) => (row.updated > 1 ? "today" : "before")).map(({ day, rows: each }) => [
      day,
      each.length,
    ]),
    [
      ["today", 2],
      ["before", 1],
    ],
  );
});

const entry = (name, more = {}) => ({ name, kind: "file", ignored: false, ...more });

test("files are found by all their words, names first", () => {
  assert.deepEqual(matching(["src/main.py", "main/other.py", "docs/main.md", "x"], "main"), [
    "src/main.py",
    "docs/main.md",
    "main/other.py",
  ]);
  assert.deepEqual(matching(["src/main.py", "docs/main.md"], "main docs"), ["docs/main.md"]);
});

test("a slash at the start is a command, an @ at a word's start a file, more words are arguments", () => {
  assert.deepEqual(wordAt("/st", 3), { kind: "command", word: "/st", start: 0 });
  assert.deepEqual(wordAt("see @src/a", 10), { kind: "file", word: "src/a", start: 4 });
  assert.equal(wordAt("mail@host", 9), null);
  assert.deepEqual(wordAt("看看@src/a", 8), { kind: "file", word: "src/a", start: 2 });
  assert.deepEqual(wordAt("/tools text vc", 14), { kind: "argument", word: "vc", start: 12 });
  assert.deepEqual(wordAt("/note @src", 10), { kind: "file", word: "src", start: 6 });
  assert.equal(wordAt("status /now it", 14), null);
});

test("a list of sessions is no older than what was told of one meanwhile", () => {
  const [old, other, gone, away] = ["s", "o", "g", "a"].map((id, at) => ({ id, updated: 9 - at, archived: id === "a" }));
  const told = { ...old, title: "new" };
  const begun = { id: "b", updated: 10 };
  const listed = [old, { ...other, title: "listed" }, gone];
  assert.deepEqual(listedRows([old, other, gone, away], [told, other, begun, away], listed), [
    begun,
    told,
    { ...other, title: "listed" },
    away,
  ]);
});

test("chunks are cut alike whatever comes before or after, and keep what did not change", () => {
  const turns = (from, to, calls = 1) =>
    Array.from({ length: to - from }, (_, at) => from + at).flatMap((turn) => [
      { key: `p${turn}`, kind: "person", turn },
      ...Array.from({ length: calls }, (_, at) => ({ key: `c${turn}.${at}`, kind: "text" })),
    ]);
  const items = [...turns(20, 40), ...turns(40, 42, 100), ...turns(42, 60)];
  const all = chunked([], items);
  assert.deepEqual(all.flatMap((chunk) => chunk.items), items);
  assert.equal(new Set(all.map(({ key }) => key)).size, all.length);
  assert.ok(all.every((chunk) => chunk.items.length <= 41));

  const later = chunked(all, [...turns(0, 20), ...items, ...turns(60, 61)]);
  assert.equal(later.filter((chunk) => all.includes(chunk)).length, all.length - 2); // the first and the last grew
  assert.deepEqual(all.map(({ key }) => key).filter((key) => !later.some((chunk) => chunk.key === key)), []);
  assert.deepEqual(chunked([], [{ key: "w", kind: "warning" }, ...turns(1, 2)]).length, 1);
});
