import assert from "node:assert/strict";
import { test } from "node:test";
import { Marked } from "../../static/vendor/marked@18.2.1/marked.js";
import { formulas } from "../../static/js/markdown/math_syntax.js";
import { csv, decimalMark, numberOf } from "../../static/js/tables/table_values.js";

const marked = new Marked(formulas);
const found = (text) =>
  [...marked.parse(text).matchAll(/<code class="(displayed-)?formula">(.*?)<\/code>/gs)].map(
    ([, displayed, tex]) => (displayed ? `D:${tex}` : tex),
  );

test("formulas in all their signs", () => {
  assert.deepEqual(found("$x$ and $a_1$, $b_1$."), ["x", "a_1", "b_1"]);
  assert.deepEqual(found("设$x^2$为面积"), ["x^2"]);
  assert.deepEqual(found("\\(a < b\\) and $$c$$ inside"), ["a &lt; b", "D:c"]);
  assert.deepEqual(found("$$\na\n$$\n\n\\[\nb\n\\]\n"), ["D:a", "D:b"]);
  assert.deepEqual(found("words\n\\[ b \\]\nand words"), ["D:b"]);
  assert.deepEqual(found("1. one:\n   $$\n   a\n   $$\n"), ["D:a"]);
  assert.deepEqual(found("$2x + 3$ and $5\\text{ or }6$"), ["2x + 3", "5\\text{ or }6"]);
});

test("money, names of shells and code are no formulas", () => {
  const texts = [
    "$5 and $6",
    "from $5, or 6$ more",
    "$5-$6",
    "US$5 and HK$6",
    "5$ and 6$",
    "$HOME:$PATH",
    "\\$a\\$",
    "`$x$`",
    "    $x$",
    "```\n$x$\n```",
    "half of $x",
    "$$",
    "$ x $",
    "\\[a link\\](to)",
  ];
  for (const text of texts) assert.deepEqual(found(text), [], text);
});

test("formulas that never end stay text", () => {
  assert.deepEqual(found("$".repeat(20_000)), []);
  assert.deepEqual(found(`$5${" a".repeat(20_000)}`), []);
  assert.deepEqual(found("\\(".repeat(20_000)), []);
});

test("cells that are numbers, whatever their unit", () => {
  const numbers = { "1,200": 1200, "−4": -4, "-4.5": -4.5, "$5.10": 5.1, "12 %": 12, ".5": 0.5, "1e3": 1000 };
  for (const [text, number] of Object.entries(numbers)) assert.equal(numberOf(text), number, text);
  for (const text of ["", "-", "a", "1.2.3", "1,2", "12 apples", "2024-01-02"]) assert.equal(numberOf(text), null, text);
});

test("one decimal comma tells how a column writes its numbers", () => {
  assert.equal(decimalMark(["1,500", "2", "3.1.2024"]), ".");
  assert.equal(decimalMark(["1,500", "2,5"]), ",");
  const numbers = { "1,500": 1.5, "1.234,5": 1234.5, "-1,5 %": -1.5, ",5": 0.5, "2": 2 };
  for (const [text, number] of Object.entries(numbers)) assert.equal(numberOf(text, ","), number, text);
});

test("a cell with a comma, a quote or a line is quoted", () => {
  assert.equal(csv([["a", 'b "c"'], ["d, e", "f\ng"]]), 'a,"b ""c"""\r\n"d, e","f\ng"\r\n');
});
