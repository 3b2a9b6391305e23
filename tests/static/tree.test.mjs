import assert from "node:assert/strict";
import { test } from "node:test";
import { foldersAbove, listedOf, openIn, rowsOf, rowsOfFound } from "../../static/js/tree/tree_model.js";

const folder = (name) => ({ name, kind: "folder" });
const file = (name) => ({ name, kind: "file" });
const whole = (...entries) => listedOf([{ start: 0, total: entries.length, entries }]);
const all = (rows) => Array.from({ length: rows.count }, (_, index) => rows.at(index));

test("rows are what is in open folders, each in its place", () => {
  const tree = {
    listed: new Map([
      ["", whole(folder("lib"), folder("src"), file("z.txt"))],
      ["lib", whole(file("one.js"), file("two.js"))],
      ["src", whole(folder("deep"), file("a.py"))],
      ["src/deep", whole(file("b.py"))],
    ]),
    open: new Set(["", "lib", "src", "src/deep", "deleted", "lib/gone"]),
  };
  const rows = rowsOf(tree);
  assert.deepEqual(
    all(rows).map(({ path, depth, place, siblings }) => [path, depth, place, siblings]),
    [
      ["lib", 1, 1, 3],
      ["lib/one.js", 2, 1, 2],
      ["lib/two.js", 2, 2, 2],
      ["src", 1, 2, 3],
      ["src/deep", 2, 1, 2],
      ["src/deep/b.py", 3, 1, 1],
      ["src/a.py", 2, 2, 2],
      ["z.txt", 1, 3, 3],
    ],
  );
  all(rows).forEach(({ path }, index) => assert.equal(rows.indexOf(path), index));
  assert.equal(rows.indexOf("nowhere/x"), -1);
  assert.equal(rows.indexOf("src/x"), -1);
});

test("rows of any tree are found where they stand", () => {
  let seed = 7;
  const random = (most) => (seed = (seed * 48271) % 2147483647) % most;
  for (let round = 0; round < 50; round += 1) {
    const tree = { listed: new Map(), open: new Set([""]) };
    const expected = [];
    const grow = (path, depth) => {
      const kindOf = () => (random(2) && depth < 4 ? folder : file);
      const entries = Array.from({ length: random(5) }, (_, index) => kindOf()(`n${index}`));
      tree.listed.set(path, whole(...entries));
      for (const { name, kind } of entries) {
        const inner = path ? `${path}/${name}` : name;
        expected.push(inner);
        if (kind === "folder" && random(2)) {
          tree.open.add(inner);
          grow(inner, depth + 1);
        }
      }
    };
    grow("", 1);
    const rows = rowsOf(tree);
    assert.deepEqual(all(rows).map(({ path }) => path), expected);
    expected.forEach((path, index) => assert.equal(rows.indexOf(path), index));
  }
});

test("a folder that is known in parts has all its rows", () => {
  const part = (start, ...entries) => ({ start, total: 1000, entries });
  const known = listedOf([part(0, folder("a"), file("b"))]);
  const tree = { listed: new Map([["", known], ["a", whole(file("x"))]]), open: new Set(["", "a"]) };
  assert.equal(rowsOf(tree).count, 1001);
  assert.deepEqual(rowsOf(tree).at(900).path, "");
  assert.deepEqual([rowsOf(tree).at(900).folder, rowsOf(tree).at(900).place], ["", 900]);
  const grown = listedOf([part(899, file("far"))], known);
  assert.equal(grown, known); // a copy of a hundred thousand held up the page at each part
  tree.listed.set("", grown);
  assert.equal(rowsOf(tree).at(900).path, "far");
  assert.equal(rowsOf(tree).indexOf("far"), 900);
  assert.equal(rowsOf(tree).at(2).path, "b");
  const shorter = listedOf([{ start: 0, total: 3, entries: [file("c")] }], known);
  assert.deepEqual([...shorter.places.keys()], ["c"]);
  const other = listedOf([{ ...part(1, file("d")), order: "2" }], known);
  assert.deepEqual([...other.places.keys()], ["d"]);
});

test("a file in the place of an open folder opens nothing", () => {
  const tree = { listed: new Map([["", whole(file("a"))], ["a", whole(file("x"))]]), open: new Set(["", "a"]) };
  assert.deepEqual(openIn(tree, ""), []);
  assert.equal(rowsOf(tree).count, 1);
});

test("what was found stands under one another", () => {
  const rows = rowsOfFound(["src/a.py", "b.py"]);
  assert.deepEqual([rows.count, rows.at(0).entry.name, rows.indexOf("b.py")], [2, "a.py", 1]);
});

test("folders above a path begin with the project", () => {
  assert.deepEqual(foldersAbove("a/b/c.py"), ["", "a", "a/b"]);
});
