import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { followMarks } from "../../static/js/store/undo_marks.js";
import { holdTimeouts } from "./timers.mjs";

/** Follows the marks of a session while the server answers with *status*. */
async function following(status) {
  const told = { asked: 0, marked: [] };
  mock.method(globalThis, "fetch", async () => {
    told.asked += 1;
    return new Response(JSON.stringify({ calls: ["new"] }), { status });
  });
  holdTimeouts();
  const state = {
    session: "s",
    sessionState: { session: "s", boot: "b", changes: 1 },
    isReady: true,
    transcript: { firstTurn: 1 },
    marks: ["old"],
  };
  const pass = async () => {
    for (let n = 0; n < 5; n += 1) {
      await new Promise(setImmediate);
      mock.timers.tick(2_000);
    }
  };
  let look;
  followMarks({ state, on() {}, subscribe: (then) => (look = then), marked: (_, marks) => told.marked.push(...marks) });
  return { told, state, look: () => (look(), pass()) };
}

test("a refusal is asked about again only when there is something else to ask", async (context) => {
  context.after(() => mock.reset());
  context.after(() => mock.timers.reset());
  const { told, state, look } = await following(422);
  context.after(() => (state.isReady = false)); // or it would ask on if this fails
  await look();
  await look();
  assert.deepEqual(told, { asked: 1, marked: ["old"] }); // those that were known stay
  state.sessionState.changes = 2;
  await look();
  assert.deepEqual(told, { asked: 2, marked: ["old", "old"] });
});

test("the marks are asked for once", async (context) => {
  context.after(() => mock.reset());
  context.after(() => mock.timers.reset());
  const { told, look } = await following(200);
  await look();
  await look();
  assert.deepEqual(told, { asked: 1, marked: ["new"] });
});
