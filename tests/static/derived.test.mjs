import assert from "node:assert/strict";
import { test } from "node:test";
import { byDay, changedFiles, explored, grouped, openQuestion } from "../../static/js/state/derived.js";
import { foldersAbove, matching, visibleRows } from "../../static/js/state/tree.js";
import { wordAt } from "../../static/js/state/typing.js";

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

test("changed files: the last first, edits together, renames under the new name", () => {
  const diff = (path) => ({ kind: "diff", path, diff: "+x", added: 1, removed: 0 });
  const items = [
    call("1", "create_file", { card: diff("a.py"), changes: [{ kind: "created", path: "a.py" }] }),
    call("2", "modify_file", { card: diff("b.py"), changes: [{ kind: "modified", path: "b.py" }] }),
    call("3", "modify_file", { card: diff("a.py"), changes: [{ kind: "modified", path: "a.py" }] }),
    call("4", "rename_file", { changes: [{ kind: "renamed", path: "b.py", new_path: "c.py" }] }),
    call("5", "modify_file", { state: "failed", card: diff("z.py") }),
  ];
  assert.deepEqual(
    changedFiles(items).map(({ path, kind, added }) => [path, kind, added]),
    [
      ["c.py", "renamed", 0],
      ["a.py", "created", 2],
    ],
  );
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

test("rows of open folders follow their folder; hidden ones only when wanted", () => {
  const tree = {
    listed: new Map([
      [
        "",
        [entry("src", { kind: "folder" }), entry(".env"), entry("build", { kind: "folder", ignored: true })],
      ],
      ["src", [entry("a.py")]],
    ]),
    open: new Set(["", "src"]),
    showsHidden: false,
  };
  assert.deepEqual(
    visibleRows(tree).map(({ path, depth }) => [path, depth]),
    [
      ["src", 1],
      ["src/a.py", 2],
    ],
  );
  assert.equal(visibleRows({ ...tree, showsHidden: true }).length, 4);
});

test("folders above a path begin with the project", () => {
  assert.deepEqual(foldersAbove("a/b/c.py"), ["", "a", "a/b"]);
});

test("files are found by all their words, names first", () => {
  assert.deepEqual(matching(["src/main.py", "main/other.py", "docs/main.md", "x"], "main"), [
    "src/main.py",
    "docs/main.md",
    "main/other.py",
  ]);
  assert.deepEqual(matching(["src/main.py", "docs/main.md"], "main docs"), ["docs/main.md"]);
});

test("a slash at the start is a command, an @ at a word's start a file", () => {
  assert.deepEqual(wordAt("/st", 3), { kind: "command", word: "/st", start: 0 });
  assert.deepEqual(wordAt("see @src/a", 10), { kind: "file", word: "src/a", start: 4 });
  assert.equal(wordAt("mail@host", 9), null);
  assert.equal(wordAt("/status now", 11), null);
});
