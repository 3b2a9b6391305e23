import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Folders } from "../../static/js/tree/folders.js";
import { holdTimeouts } from "./timers.mjs";

/** Folders of 2,000 files each, whose parts are answered when the test says so. */
function folders(context) {
  const asked = [];
  mock.method(globalThis, "fetch", (address) => {
    const query = new URL(address, "http://here").searchParams;
    return new Promise((resolve) => {
      const answer = (order) => {
        const start = Number(query.get("start") ?? 0);
        const entries = Array.from({ length: 500 }, (_, n) => ({ name: `${order}${start + n}`, kind: "file" }));
        resolve(Response.json({ start, total: 2_000, order, entries }));
        return settled();
      };
      asked.push({ start: query.get("start"), around: query.get("around"), answer });
    });
  });
  holdTimeouts();
  context.after(() => mock.reset());
  context.after(() => mock.timers.reset());
  const told = { changed: 0, inSight: [0] };
  const host = {
    session: () => "s",
    changed: () => (told.changed += 1),
    inSight: () => told.inSight,
    listed: () => {},
    failed: () => {},
  };
  return { asked, told, folders: new Folders(host) };
}

const settled = () => new Promise(setImmediate);

test("a part that came too late is asked for again by who looks there", async (context) => {
  const { asked, told, folders: all } = folders(context);
  all.need("", 1_500);
  all.list("");
  await asked[1].answer("b");
  all.need("", 1_500); // that is under way, so it asks for nothing
  const before = told.changed;
  await asked[0].answer("a");
  assert.equal(told.changed, before + 1);
  all.need("", 1_500);
  await asked[2].answer("b");
  assert.equal(all.tree.listed.get("").entries.get(1_500).name, "b1500");
});

test("what was reached is listed anew if it may be older than what is known", async (context) => {
  const { asked, folders: all } = folders(context);
  all.reach("", "f1");
  all.list("");
  await asked[1].answer("b");
  await asked[0].answer("a");
  mock.timers.tick(100);
  await settled();
  assert.equal(asked.length, 3);
  await asked[2].answer("b");
  assert.equal(all.tree.listed.get("").entries.get(0).name, "b0");
});
