import assert from "node:assert/strict";
import { test } from "node:test";
import { diff3Merge, diffIndices } from "../../static/vendor/node-diff3@3.2.1/node-diff3.js";
import { diffWordsWithSpace } from "../../static/vendor/diff@9.0.0/diff.js";
import { overwritten, spans, stripped } from "../../static/js/cards/ansi.js";
import { settledEnd } from "../../static/js/markdown/blocks.js";
import { evened, rows } from "../../static/js/editor/csv.js";
import { cutTokens, diffRows, sideBySide, withTokens, withWords } from "../../static/js/cards/diff_rows.js";
import { count, size, visible } from "../../static/js/lib/format.js";
import { daysAgo, duration } from "../../static/js/lib/time.js";
import { conflicts, linesOf, merge, settled } from "../../static/js/editor/merge.js";
import { fill, pickLanguage, say } from "../../static/js/i18n/phrases.js";

test("a phrase is said in the catalogue's language, with phrases inside", () => {
  const phrase = {
    template: "{n:,} of {what}",
    values: { n: 1234, what: { template: "files", values: {} } },
  };
  assert.equal(say(phrase, {}), "1,234 of files");
  assert.equal(say(phrase, { files: "文件", "{n:,} of {what}": "{what}：{n:,}" }), "文件：1,234");
});

test("places as Python writes them", () => {
  assert.equal(
    fill("{name!r} {x:.1f} {y:.0%} {{}} {gone}", { name: "a", x: 1.25, y: 0.5 }),
    "'a' 1.3 50% {} {gone}",
  );
});

test("the address goes before what was chosen, that before the browser", () => {
  assert.equal(pickLanguage("?lang=zh", "en", "en"), "zh");
  assert.equal(pickLanguage("", "zh", "en-GB"), "zh");
  assert.equal(pickLanguage("", null, "zh-CN"), "zh");
  assert.equal(pickLanguage("", null, "de"), "en");
});

test("colours become classes and all other sequences vanish", () => {
  assert.deepEqual(spans("a\x1b[1;31mb\x1b[0mc").spans, [
    { text: "a", classes: "" },
    { text: "b", classes: "fg-1 bold" },
    { text: "c", classes: "" },
  ]);
  assert.equal(
    stripped("\x1b]0;title\x07\x1b[2J\x1b[10;5Hx\x1b]8;;javascript:alert(1)\x1b\\y\x1b]8;;\x1b\\"),
    "xy",
  );
  assert.equal(stripped("a\u202eb\x00c"), "abc");
});

test("a style goes on in the next piece", () => {
  const { style } = spans("\x1b[32m");
  assert.deepEqual(spans("x", style).spans, [{ text: "x", classes: "fg-2" }]);
});

test("rich colours come down to sixteen classes", () => {
  const classes = (code) => spans(`\x1b[${code}mx`).spans[0].classes;
  assert.deepEqual(
    [classes("38;5;196"), classes("38;2;0;200;0"), classes("48;5;21"), classes("38;5;240")],
    ["fg-9", "fg-10", "bg-12", "fg-8"],
  );
});

test("a carriage return begins the line anew", () => {
  assert.equal(overwritten("10%\r20%\r30%\ndone\r\n"), "30%\ndone\n");
});

test("a diff has its line numbers on both sides", () => {
  const [hunk, same, removed, added] = diffRows("@@ -3,2 +4,2 @@ def f\n a\n-b\n+c\n");
  assert.deepEqual([hunk.text, same.old, same.new, removed.old, added.new], ["def f", 3, 4, 4, 5]);
});

test("the words that changed are marked", () => {
  const marked = withWords(diffRows("@@ -1 +1 @@\n-let a = one;\n+let a = two;"), diffWordsWithSpace);
  assert.deepEqual(
    marked[1].pieces.filter((piece) => piece.marked).map((piece) => piece.text),
    ["one"],
  );
  assert.deepEqual(
    marked[2].pieces.filter((piece) => piece.marked).map((piece) => piece.text),
    ["two"],
  );
});

test("lines that have nothing in common are not marked", () => {
  assert.equal(withWords(diffRows("-alpha\n+omega"), diffWordsWithSpace)[0].pieces, undefined);
});

test("a change of lines stands side by side from its top", () => {
  const rows = diffRows("@@ -1,4 +1,4 @@\n a\n-b\n-c\n+d\n e\n+f");
  const shown = sideBySide(rows).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]);
  assert.deepEqual(shown, [
    ["", ""],
    ["a", "a"],
    ["b", "d"],
    ["c", null],
    ["e", "e"],
    [null, "f"],
  ]);
});

test("lines are found again in what was made of a text", () => {
  assert.deepEqual(linesOf("a\nb\nc\n", "new\na\nB\nc\n", diffIndices), [2, 0, 4, 5]);
  assert.deepEqual(linesOf("a\nb", "a\nb", diffIndices), [1, 2]);
  assert.deepEqual(linesOf("a\nb", "", diffIndices), [0, 0]);
});

test("changes in different lines merge by themselves", () => {
  assert.deepEqual(merge("A\nb\nc", "a\nb\nc", "a\nb\nC", diff3Merge), { text: "A\nb\nC", conflicts: 0 });
});

test("changes in the same line keep both sides, and each choice settles them", () => {
  const { text, conflicts: number } = merge("x\nmine\ny\n", "x\nold\ny\n", "x\ntheirs\ny\n", diff3Merge);
  assert.equal(number, 1);
  const [conflict] = conflicts(text);
  const after = (choice) =>
    text.slice(0, conflict.from) + settled(conflict, choice) + text.slice(conflict.to);
  assert.deepEqual(["mine", "theirs", "both"].map(after), [
    "x\nmine\ny\n",
    "x\ntheirs\ny\n",
    "x\nmine\ntheirs\ny\n",
  ]);
});

test("comma, semicolon and tab, quotes and line ends inside quotes", () => {
  assert.deepEqual(rows('a,b\n"x, ""y""","1\n2"\n'), [
    ["a", "b"],
    ['x, "y"', "1\n2"],
  ]);
  assert.deepEqual(rows("a;b\n1,5;2"), [
    ["a", "b"],
    ["1,5", "2"],
  ]);
  assert.deepEqual(rows("a\tb"), [["a", "b"]]);
  assert.deepEqual(evened([["a"], ["b", "c"]]), [["a", ""], ["b", "c"]]);
});

test("blocks settle at blank lines, but not in fences and lists", () => {
  assert.equal(settledEnd("one\n\ntwo more"), 5);
  assert.equal(settledEnd("```\na\n\nbcde\n"), 0);
  assert.equal(settledEnd("```\na\n```\nrest"), 10);
  assert.equal(settledEnd("- a\n\n- bcde"), 0);
  assert.equal(settledEnd("- a\n\n  more of it"), 0);
});

test("numbers as people read them", () => {
  assert.deepEqual([950, 8123, 131072, 1048576].map(count), ["950", "8.1 k", "131 k", "1.0 M"]);
  assert.deepEqual([0.04, 2.5, 12.4, 75, 3700].map(duration), [
    "0.1 s",
    "2.5 s",
    "12 s",
    "1 min 15 s",
    "1 h 1 min",
  ]);
  assert.deepEqual([12, 1500, 64_000_000].map(size), ["12 B", "1.5 kB", "64 MB"]);
  assert.equal(visible("a\u202eb\x1bc"), "a\\u202eb\\x1bc");
});

test("days are those of the calendar", () => {
  const now = new Date(2026, 10, 21, 0, 5);
  assert.equal(daysAgo(new Date(2026, 10, 20, 23, 55).getTime() / 1000, now), 1);
  assert.equal(daysAgo(new Date(2026, 10, 21, 0, 1).getTime() / 1000, now), 0);
});

test("the colours of a line are cut where what changed in it begins", () => {
  const row = {
    text: "a = 'b'",
    pieces: [
      { text: "a = '", marked: false },
      { text: "b'", marked: true },
    ],
    tokens: [
      { text: "a = ", classes: "" },
      { text: "'b'", classes: "hljs-string" },
    ],
  };
  assert.deepEqual(cutTokens(row), [
    { text: "a = ", classes: "", marked: false, piece: 0 },
    { text: "'", classes: "hljs-string", marked: false, piece: 0 },
    { text: "b'", classes: "hljs-string", marked: true, piece: 1 },
  ]);
  assert.deepEqual(cutTokens({ text: "" }), []);
});

test("a line has the colours that it has in what was, or in what is", async () => {
  const rows = diffRows('@@ -1,2 +1,2 @@\n """\n-old\n+new\n');
  const coloured = await withTokens(rows, async (text) => [{ text, classes: text.includes("old") ? "was" : "is" }]);
  assert.deepEqual(
    coloured.map(({ tokens }) => tokens?.map(({ text, classes }) => [text, classes])),
    [undefined, [['"""', "is"]], [["old", "was"]], [["new", "is"]]],
  );
  assert.equal(await withTokens(rows, async () => null), rows);
});
