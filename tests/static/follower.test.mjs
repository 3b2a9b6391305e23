import assert from "node:assert/strict";
import { test } from "node:test";
import { Follower } from "../../static/js/store/follower.js";

const packet = (seq, boot = "b") => ({ seq, boot, type: "TextDelta", text: String(seq) });
const seqs = (events) => events.map((event) => event.seq);

function attached(head = 10) {
  const follower = new Follower("s");
  follower.attach();
  follower.arrive({ mode: "snapshot", boot: "b", head, events: [] });
  return follower;
}

test("what comes before the ack waits, and what the ack covers is dropped", () => {
  const follower = new Follower("s");
  follower.attach();
  assert.equal(follower.receive(packet(9)), "wait");
  follower.receive(packet(10));
  follower.receive(packet(11));
  const { fresh, events, isWhole } = follower.arrive({
    mode: "snapshot",
    boot: "b",
    head: 10,
    events: [{ type: "TurnStarted" }],
  });
  assert.equal(fresh, true);
  assert.equal(isWhole, true);
  assert.deepEqual(seqs(events), [undefined, 11]);
});

test("numbers that follow are applied, old ones dropped", () => {
  const follower = attached();
  assert.deepEqual(
    [11, 11, 3, 12].map((seq) => follower.receive(packet(seq))),
    ["apply", "drop", "drop", "apply"],
  );
});

test("a gap and another boot ask for what is missing", () => {
  assert.equal(attached().receive(packet(12)), "attach");
  assert.equal(attached().receive(packet(11, "other")), "attach");
});

test("after a gap the next attach asks from the last number applied", () => {
  const follower = attached();
  follower.receive(packet(11));
  follower.receive(packet(14));
  assert.deepEqual(follower.attach(), { session: "s", boot: "b", after: 11 });
});

test("a replay never applies a number twice", () => {
  const follower = attached();
  follower.attach();
  const { fresh, events } = follower.arrive({
    mode: "replay",
    boot: "b",
    head: 12,
    events: [packet(10), packet(11), packet(12)],
  });
  assert.equal(fresh, false);
  assert.deepEqual(seqs(events), [11, 12]);
});

test("a gap among those that waited is noticed", () => {
  const follower = attached();
  follower.attach();
  follower.receive(packet(13));
  const { events, isWhole } = follower.arrive({ mode: "replay", boot: "b", head: 11, events: [packet(11)] });
  assert.deepEqual(seqs(events), [11]);
  assert.equal(isWhole, false);
});

test("3,000 events over a line that breaks all the time: none lost, none doubled", () => {
  let random = 7;
  const chance = () => (random = (random * 16807) % 2147483647) / 2147483647;
  const log = Array.from({ length: 3000 }, (_, index) => packet(index + 1));
  const follower = new Follower("s");
  const seen = [];
  const attach = (sent) => {
    const { boot, after } = follower.attach();
    for (const late of log.slice(sent - 3, sent)) follower.receive(late);
    const mode = boot === "b" && chance() > 0.2 ? "replay" : "snapshot";
    const arrival = follower.arrive({
      mode,
      boot: "b",
      head: sent,
      events:
        mode === "replay"
          ? log.slice(after, sent)
          : log.slice(0, sent).map(({ text }) => ({ type: "TextDelta", text })),
    });
    if (arrival.fresh) seen.length = 0;
    seen.push(...arrival.events.map((event) => Number(event.text)));
  };
  attach(3);
  for (let sent = 4; sent <= 3000; sent += 1) {
    if (chance() < 0.3) continue; // lost with its connection
    const verdict = follower.receive(log[sent - 1]);
    if (verdict === "apply") seen.push(sent);
    if (verdict === "attach") attach(sent);
  }
  attach(3000);
  assert.deepEqual(
    seen,
    log.map(({ seq }) => seq),
  );
});
