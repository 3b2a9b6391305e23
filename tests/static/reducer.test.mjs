import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, applyAll, emptyTranscript, withEarlier } from "../../static/js/store/reducer.js";

const started = { type: "TurnStarted", text: "hi", turn: 1 };
const begun = (call_id = "c1") => ({
  type: "ToolStarted",
  call_id,
  name: "run_command",
  arguments: { command: "ls" },
});
const finished = {
  type: "ToolFinished",
  call_id: "c1",
  name: "run_command",
  state: "done",
  card: { kind: "text", title: "ok", body: "" },
  seconds: 2,
  changes: [],
};
const asked = {
  type: "ApprovalAsked",
  call_id: "c1",
  name: "run_command",
  risk: "run",
  why: "w",
  pattern: "p",
  preview: null,
};
const kinds = (transcript) => transcript.items.map((item) => item.kind);

test("deltas that follow each other are one text", () => {
  const transcript = applyAll([started, { type: "TextDelta", text: "a" }, { type: "TextDelta", text: "b" }]);
  assert.deepEqual(transcript.items.at(-1), { key: "1", kind: "text", text: "ab", done: false });
});

test("a transcript is never changed in place", () => {
  const before = applyAll([started, { type: "TextDelta", text: "a" }]);
  const copy = structuredClone(before);
  apply(before, { type: "TextDelta", text: "b" });
  assert.deepEqual(before, copy);
});

test("a retry drops what came since the step began, and keeps the steps before", () => {
  const transcript = applyAll([
    started,
    { type: "StepStarted", step: 1, thinks: true },
    { type: "ThinkingDelta", text: "x" },
    { type: "ThinkingFinished", seconds: 1 },
    { type: "TextDelta", text: "half" },
    { type: "Retrying", reason: "r", attempt: 1, seconds: 2 },
  ]);
  assert.deepEqual(kinds(transcript), ["person", "retry"]);
});

test("a second retry of the same step takes the place of the first", () => {
  const retry = (attempt) => ({ type: "Retrying", reason: "r", attempt, seconds: 1 });
  const transcript = applyAll([
    started,
    { type: "StepStarted", step: 1, thinks: false },
    retry(1),
    { type: "TextDelta", text: "x" },
    retry(2),
  ]);
  assert.deepEqual(
    transcript.items.slice(1).map((item) => item.attempt),
    [2],
  );
});

test("a drafted call is forgotten at the next other event", () => {
  const drafted = applyAll([started, { type: "CallDrafted", name: "create_file", characters: 10 }]);
  assert.deepEqual(drafted.drafted, { name: "create_file", characters: 10 });
  assert.equal(apply(drafted, begun()).drafted, null);
});

test("the answer of a call replaces its live output and its question", () => {
  const transcript = applyAll([
    started,
    begun(),
    asked,
    { type: "ToolOutput", call_id: "c1", text: "out" },
    finished,
  ]);
  const call = transcript.items.at(-1);
  assert.equal(call.state, "done");
  assert.equal(call.question, null);
  assert.equal(call.output.text, "");
});

test("outputs of calls that run side by side stay apart", () => {
  const output = (call_id, text) => ({ type: "ToolOutput", call_id, text });
  const transcript = applyAll([
    started,
    begun("c1"),
    begun("c2"),
    output("c1", "one"),
    output("c2", "two"),
    output("c1", "!"),
  ]);
  assert.deepEqual(
    transcript.items.slice(1).map((call) => call.output.text),
    ["one!", "two"],
  );
});

test("of endless output the end is kept, and how much is gone", () => {
  const lots = { type: "ToolOutput", call_id: "c1", text: "x".repeat(700_000) };
  const { output } = applyAll([started, begun(), lots, lots]).items.at(-1);
  assert.equal(output.text.length, 1_200_000);
  assert.equal(output.dropped, 200_000);
});

test("an answer without its call is shown all the same", () => {
  assert.deepEqual(kinds(applyAll([started, finished])), ["person", "call"]);
});

test("the same id in a later turn is another call", () => {
  const transcript = applyAll([
    started,
    begun(),
    finished,
    { ...started, turn: 2 },
    begun(),
    { type: "ToolOutput", call_id: "c1", text: "new" },
  ]);
  assert.deepEqual(
    transcript.items.filter((item) => item.kind === "call").map((call) => call.state),
    ["done", "running"],
  );
});

test("a turn that ends leaves nothing running", () => {
  const transcript = applyAll([
    started,
    begun(),
    asked,
    { type: "TurnFinished", why: "stopped", seconds: 1, usage: {} },
  ]);
  assert.deepEqual(kinds(transcript), ["person", "call", "end"]);
  assert.equal(transcript.items[1].state, "stopped");
  assert.equal(transcript.isRunning, false);
});

test("clearing empties the view", () => {
  assert.deepEqual(
    applyAll([started, { type: "CommandAnswered", command: "/clear", effect: "clear" }]).items,
    [],
  );
});

test("an event nobody knows changes nothing", () => {
  const transcript = applyAll([started]);
  assert.deepEqual(apply(transcript, { type: "FromTheFuture" }), transcript);
});

test("earlier turns come before, under keys of their own", () => {
  const now = applyAll([{ ...started, turn: 5 }], emptyTranscript("", 5));
  const transcript = withEarlier(
    now,
    [
      { ...started, turn: 3 },
      { ...started, turn: 4 },
    ],
    3,
  );
  assert.deepEqual(
    transcript.items.map((item) => item.turn),
    [3, 4, 5],
  );
  assert.equal(new Set(transcript.items.map((item) => item.key)).size, 3);
  assert.equal(transcript.firstTurn, 3);
});

test("a snapshot leads to the transcript that the events led to", () => {
  const live = applyAll([
    started,
    { type: "StepStarted", step: 1, thinks: false },
    { type: "TextDelta", text: "a" },
    { type: "TextDelta", text: "b" },
    { type: "StepFinished", step: 1, usage: {} },
    begun(),
    { type: "ToolOutput", call_id: "c1", text: "o" },
    finished,
  ]);
  const told = applyAll([
    started,
    { type: "StepStarted", step: 1, thinks: false },
    { type: "TextDelta", text: "ab" },
    { type: "StepFinished", step: 1, usage: {} },
    begun(),
    finished,
  ]);
  assert.deepEqual(live, told);
});

test("arguments that the person changed take the place of the model's, in the same call", () => {
  const revised = { ...begun(), arguments: { command: "pwd" }, is_revised: true };
  const transcript = applyAll([started, begun(), asked, revised]);
  const [, call] = transcript.items;
  assert.equal(transcript.items.length, 2);
  assert.deepEqual([call.arguments, call.isRevised, call.question], [{ command: "pwd" }, true, null]);
  const late = applyAll([started, revised, finished]);
  assert.deepEqual(
    late.items.map(({ key, kind, isRevised }) => [key, kind, isRevised]),
    applyAll([started, begun(), asked, revised, finished]).items.map(({ key, kind, isRevised }) => [
      key,
      kind,
      isRevised,
    ]),
  );
});

test("a question about the task is over when the task goes on, or ends", () => {
  const loop = applyAll([started, begun(), finished, { ...asked, risk: "loop" }]);
  assert.equal(loop.items[1].question.risk, "loop");
  assert.equal(apply(loop, { type: "StepStarted", step: 2, thinks: false }).items[1].question, null);
  assert.equal(apply(loop, { type: "TurnFinished", why: "step_limit" }).items[1].question, null);
});

test("what is waited for is there until the next event", () => {
  const waiting = { type: "Waiting", why: "w", until: 7 };
  const before = applyAll([started, waiting]);
  assert.deepEqual(before.items.at(-1), { key: "1", kind: "waiting", why: "w", until: 7 });
  assert.deepEqual(kinds(apply(before, { type: "StepStarted", step: 1 })), ["person"]);
  assert.deepEqual(kinds(apply(before, { type: "TurnFinished", why: "stopped" })), ["person", "end"]);
});

test("a reply knows what the task has read as soon as it is whole, and the next task nothing of it", () => {
  const link = (n, title) => ({ n, url: `https://x.org/${n}`, title, snippet: "" });
  const found = (...links) => ({ ...finished, card: { kind: "links", query: "q", links } });
  const said = [{ type: "TextDelta", text: "see [1]" }, { type: "StepFinished" }];
  const transcript = applyAll([
    started,
    ...said,
    begun("c1"),
    found(link(1, "A"), link(0, "of no number")),
    ...said,
    begun("c2"),
    found(link(1, "A once more"), link(2, "B")),
    ...said,
    { type: "TurnFinished", why: "done" },
    { ...started, turn: 2 },
    ...said,
  ]);
  const texts = transcript.items.filter((item) => item.kind === "text");
  const first = { 1: { url: "https://x.org/1", title: "A" } };
  const both = { ...first, 2: { url: "https://x.org/2", title: "B" } };
  assert.deepEqual(
    texts.map(({ done, sources }) => [done, sources]),
    [
      [true, undefined],
      [true, first],
      [true, both],
      [true, undefined],
    ],
  );
});
