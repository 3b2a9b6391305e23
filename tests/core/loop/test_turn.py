from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from core.cards import Change, TextCard
from core.conversation.messages import Assistant, Context, ToolCall, ToolResult, User
from core.conversation.transcript import replay_events
from core.events import (
    ApprovalAsked,
    Event,
    Informed,
    Reply,
    Retrying,
    TextDelta,
    ThoughtKept,
    ToolFinished,
    ToolOutput,
    TurnFinished,
    Warned,
)
from core.feature import Feature
from core.hooks import FinishesTurns, FlagsCalls, FollowsFiles, ProvidesWarnings, RecordsCalls
from core.loop.approval import AlwaysAskReason
from core.loop.nudges import REPEATED_FAILURE_NOTE
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from core.tools import Outcome, Risk, RunningTool, Tool, ToolError, tool
from tests.scripted_model import (
    USED,
    Item,
    ScriptedModel,
    call_reply,
    calls_reply,
    run_turn,
    terminal,
    text_reply,
)
from utils.i18n import Phrase, UserError, phrase
from utils.llm.completion import Completion, Delta, ModelError, RawCall, Retry, Usage


class Box(Feature, FlagsCalls, FollowsFiles):
    """Tools of every risk; what ran is in `ran`."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.followed: list[Change] = []

    @tool(Risk.READ)
    def look(self, at: str, times: int = 1) -> Outcome:
        """Look at something."""
        self.ran.append(f"look {at} {times}")
        return Outcome(f"saw {at}", TextCard("look"))

    @tool(Risk.WRITE)
    def write(self, path: str) -> Outcome:
        """Write something."""
        self.ran.append(f"write {path}")
        return Outcome("written", TextCard("write"), changes=(Change("created", path),))

    @tool(Risk.DESTROY)
    def wipe(self) -> Outcome:
        """Wipe everything."""
        self.ran.append("wipe")
        return Outcome("wiped", TextCard("wipe"))

    @tool(Risk.RUN)
    def talk(self) -> RunningTool:
        """Say things while running."""
        yield "one\n"
        yield "two\n"
        return Outcome("one two", TextCard("talk"))

    @tool(Risk.READ)
    def fail(self) -> Outcome:
        """Fail as expected."""
        raise ToolError(phrase("It cannot be done: {why}.", why="because"))

    @tool(Risk.READ)
    def crash(self) -> Outcome:
        """Fail as nobody expected."""
        raise RuntimeError("a bug of ours")

    def approval_reason(self, tool: Tool, arguments: Any) -> Any:
        return phrase("It cannot be undone.") if tool.name == "wipe" else None

    def on_files_changed(self, changes: Any) -> None:
        self.followed += changes


def talk_of(main: MainTerminal) -> list[Any]:
    """Return the records that are neither context nor state."""
    return [r for _, r in main.history.records if isinstance(r, User | Assistant | ToolResult)]


def requests(main: MainTerminal) -> list[list[dict[str, Any]]]:
    assert isinstance(main.model, ScriptedModel)
    return main.model.requests


def check_whole(messages: list[dict[str, Any]]) -> None:
    """Every call is answered once, right behind its reply, before anything else."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert waiting
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert not waiting
        waiting = [one["id"] for one in message.get("tool_calls", [])]
    assert not waiting


def test_a_call_is_answered_before_the_model_goes_on() -> None:
    box = Box()
    main = terminal(call_reply("look", at="a"), text_reply("All done."), features=[box])
    events = run_turn(main, "hi")
    assert [type(event).__name__ for event in events] == [
        "TurnStarted", "StepStarted", "StepFinished", "ToolStarted", "ToolFinished",
        "StepStarted", "TextDelta", "StepFinished", "TurnFinished",
    ]  # fmt: skip
    kinds = [message["role"] for message in requests(main)[1]]
    assert kinds == ["system", "system", "user", "assistant", "tool"]
    assert requests(main)[1][-1] == {
        "role": "tool", "tool_call_id": "c1", "content": "saw a",
    }  # fmt: skip
    assert box.ran == ["look a 1"]
    assert main.usage.requests == 2


def test_consecutive_requests_extend_the_same_prefix() -> None:
    replies = [call_reply("look", id=f"c{i}", at=str(i)) for i in range(6)]
    main = terminal(
        *replies, text_reply("done"), text_reply("again"), features=[Box()], mode="think"
    )
    run_turn(main, "one")
    run_turn(main, "two")
    for before, after in zip(requests(main), requests(main)[1:], strict=False):
        assert after[: len(before)] == before
    check_whole(requests(main)[-1])


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("look", "{oops", "not a whole JSON object"),
        ("look", "[1]", "not a whole JSON object"),
        ("look", "", "needs 'at'"),
        ("look", "null", "needs 'at'"),
        ("look", '{"at": null}', "needs 'at'"),
        ("look", '{"at": "a", "times": "x"}', "must be of type integer"),
        ("look", '{"at": "a", "times": true}', "must be of type integer"),
        ("look", '{"at": 3}', "must be of type string"),
        ("look", '{"at": "a", "to": "b"}', "no parameter 'to'"),
        ("fly", "{}", "no tool 'fly'"),
        ("", "{}", "no tool 'unnamed'"),
        ("fail", "{}", "This call failed: It cannot be done: because."),
    ],
)
def test_a_mistake_is_told_to_the_model(name: str, arguments: str, told: str) -> None:
    box = Box()
    main = terminal(calls_reply(("c1", name, arguments)), text_reply("I see."), features=[box])
    events = run_turn(main, "hi")
    answer = talk_of(main)[2]
    assert told in answer.text
    assert answer.state == "failed"
    assert box.ran == []
    assert events[-1] == TurnFinished("done", None, events[-1].usage, events[-1].seconds)  # type: ignore[union-attr]


def test_a_task_that_ends_on_a_failure_says_so() -> None:
    failing, fine = calls_reply(("c1", "fail", "{}")), call_reply("look", at="a")
    ended = Warned(phrase("The last call, {name}, failed before the task ended.", name="fail"))
    main = terminal(
        failing, text_reply("Done!"), fine, failing, fine, text_reply("Done!"), features=[Box()]
    )
    assert ended in run_turn(main, "one")
    assert ended not in run_turn(main, "two"), "it was made good"


@pytest.mark.parametrize("arguments", ['{"at": "a", "times": "2"}', '{"at": "a", "times": 2.0}',
                                       '"{\\"at\\": \\"a\\", \\"times\\": 2}"'])  # fmt: skip
def test_a_harmless_slip_in_the_arguments_is_understood(arguments: str) -> None:
    box = Box()
    run_turn(
        terminal(calls_reply(("c1", "look", arguments)), text_reply("ok"), features=[box]), "hi"
    )
    assert box.ran == ["look a 2"]


@pytest.mark.parametrize(
    "arguments", ['{"at": "a', '{"at": "a", "times": NaN}', "[" * 100_000, '{"at":' * 5_000]
)
def test_broken_arguments_never_go_back_over_the_wire(arguments: str) -> None:
    main = terminal(calls_reply(("c1", "look", arguments)), text_reply("ok"), features=[Box()])
    run_turn(main, "hi")
    assert requests(main)[1][3]["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize(
    ("name", "sent"),
    [("", "unnamed"), ("a b\n\x1b[1m", "a_b_1m"), ("名", "_"), ("x" * 99, "x" * 64)],
)
def test_a_name_that_no_tool_can_have_never_goes_back_over_the_wire(name: str, sent: str) -> None:
    main = terminal(calls_reply(("c1", name, "{}")), text_reply("ok"), features=[Box()])
    run_turn(main, "hi")
    assert requests(main)[1][3]["tool_calls"][0]["function"]["name"] == sent


def test_a_call_that_the_output_limit_cut_is_never_run() -> None:
    box = Box()
    cut = RawCall("c2", "look", '{"at": "b"}', is_cut=True)
    first = Completion("", "", (RawCall("c1", "look", '{"at": "a"}'), cut), Usage(), is_cut=True)
    main = terminal([first], text_reply("ok"), features=[box])
    run_turn(main, "hi")
    assert box.ran == ["look a 1"]
    check_whole(requests(main)[1])


def test_a_text_that_the_output_limit_cut_goes_on() -> None:
    main = terminal(
        [Delta("half"), Completion("half", "", (), Usage(), is_cut=True)], text_reply(" rest")
    )
    events = run_turn(main, "hi")
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["half", " rest"]
    assert any(isinstance(event, Warned) for event in events)


@pytest.mark.parametrize(("cuts", "end"), [(3, "done"), (4, "error")])
def test_a_task_goes_on_from_as_many_cuts_as_are_allowed(cuts: int, end: str) -> None:
    cut: list[Item] = [Delta("half"), Completion("half", "", (), Usage(), is_cut=True)]
    main = terminal(*[cut] * cuts, text_reply("rest"))
    events = run_turn(main, "hi")
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == end
    assert len(requests(main)) == 4


@pytest.mark.parametrize(("limit", "end"), [(2, "step_limit"), (3, "done")])
def test_a_task_makes_as_many_model_calls_as_are_allowed(limit: int, end: str) -> None:
    main = terminal(
        call_reply("look", at="a"), call_reply("look", at="b"), text_reply("ok"), features=[Box()]
    )
    main.step_limit = limit
    events = run_turn(main, "hi")
    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].why, len(requests(main))) == (end, limit)


@pytest.mark.parametrize(("limit", "end"), [(100, "step_limit"), (0, "done")])
def test_a_long_task_gets_a_hundred_model_calls_and_all_it_takes_with_0(
    limit: int, end: str
) -> None:
    calls = [call_reply("look", id=f"c{n}", at=str(n)) for n in range(120)]
    main = terminal(*calls, text_reply("ok"), features=[Box()])
    assert main.step_limit == 100
    main.step_limit = limit
    events = run_turn(main, "hi")
    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].why, len(requests(main))) == (end, limit or 121)


def test_a_retry_forgets_what_came_before() -> None:
    main = terminal(
        [Delta("wrong"), Retry(phrase("It broke off."), 1, 0.5), *text_reply("right")],
        features=[Box()],
    )
    events = run_turn(main, "hi")
    assert Retrying(phrase("It broke off."), 1, 0.5) in events
    assert talk_of(main)[-1].text == "right"


def test_a_lost_model_ends_the_turn_and_keeps_the_question() -> None:
    main = terminal([ModelError("network", phrase("No network."))], text_reply("back"))
    events = run_turn(main, "hi")
    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].why, str(events[-1].detail)) == ("error", "No network.")
    assert talk_of(main) == [User("hi")]
    run_turn(main, "again")
    assert [m["content"] for m in requests(main)[1] if m["role"] == "user"] == ["hi", "again"]


def test_output_streams_while_a_tool_runs() -> None:
    events = run_turn(terminal(call_reply("talk"), text_reply("ok"), features=[Box()]), "hi")
    assert [e.text for e in events if isinstance(e, ToolOutput)] == ["one\n", "two\n"]


@pytest.mark.parametrize(
    ("mode", "name", "reply", "ran", "state"),
    [
        ("guarded", "write", None, True, "done"),
        ("guarded", "wipe", None, False, "refused"),
        ("guarded", "wipe", Reply(yes=True), True, "done"),
        ("guarded", "wipe", Reply(yes=False, reason="not today"), False, "refused"),
        ("ask", "write", None, False, "refused"),
        ("ask", "write", Reply(yes=True), True, "done"),
        ("read-only", "write", Reply(yes=True), False, "refused"),
        ("read-only", "look", None, True, "done"),
        ("all", "wipe", None, True, "done"),
    ],
)
def test_leave(mode: Any, name: str, reply: Reply | None, ran: bool, state: str) -> None:
    box = Box()
    arguments = {"write": {"path": "a"}, "wipe": {}, "look": {"at": "a"}}[name]
    main = terminal(
        call_reply(name, **arguments), text_reply("ok"), features=[box], approval_mode=mode
    )
    events = run_turn(main, "hi", reply)
    assert bool(box.ran) is ran
    finished = next(event for event in events if isinstance(event, ToolFinished))
    assert finished.state == state
    if reply and reply.reason:
        assert "not today" in talk_of(main)[2].text


def test_what_is_asked_about_each_time_is_never_allowed_for_good() -> None:
    class Careful(Feature, FlagsCalls):
        def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
            return AlwaysAskReason("It runs what nobody has seen.")

    main = terminal(call_reply("write", path="a"), text_reply("ok"), features=[Box(), Careful()])
    asked: list[ApprovalAsked] = []

    def show(event: Event) -> Reply | None:
        if not isinstance(event, ApprovalAsked):
            return None
        asked.append(event)
        return Reply(yes=True, always=len(asked) == 1, pattern="write *")

    drive(main.run_line("hi"), show)
    assert [str(event.why) for event in asked] == [
        "It runs what nobody has seen.",
        "This is asked every time; “yes” applies to this call only.",
    ]
    assert main.approval.patterns == []


def test_a_question_shows_texts_of_several_lines_as_lines() -> None:
    main = terminal(
        call_reply("write", path="a\nb\n"), text_reply("ok"), features=[Box()], approval_mode="ask"
    )
    asked = next(event for event in run_turn(main, "hi") if isinstance(event, ApprovalAsked))
    assert asked.preview == TextCard("write", "path:\na\nb")


def test_the_order_of_the_arguments_makes_no_other_call() -> None:
    box = Box()
    tools = terminal(features=[box]).tools
    call = ToolCall("c1", "look", '{"times": 2, "at": "a"}')
    assert list(tools.find("look").arguments(call)) == ["at", "times"]


def test_always_covers_the_next_call_and_ends_with_the_session() -> None:
    box = Box()
    main = terminal(
        call_reply("wipe"),
        call_reply("wipe", id="c2"),
        text_reply("ok"),
        call_reply("wipe"),
        text_reply("ok"),
        features=[box],
    )
    events = run_turn(main, "hi", Reply(yes=True, always=True))
    assert sum(isinstance(event, ApprovalAsked) for event in events) == 1
    main.new()
    events = run_turn(main, "hi", None)
    assert box.ran == ["wipe", "wipe"]


def test_a_bug_in_a_tool_rises_and_leaves_the_history_whole() -> None:
    main = terminal(
        calls_reply(("c1", "crash", "{}"), ("c2", "look", '{"at": "a"}')),
        text_reply("ok"),
        features=[Box()],
    )
    with pytest.raises(RuntimeError, match="a bug of ours"):
        run_turn(main, "hi")
    run_turn(main, "again")
    check_whole(requests(main)[1])


def test_a_screen_that_goes_away_leaves_the_history_whole() -> None:
    main = terminal(
        calls_reply(("c1", "talk", "{}"), ("c2", "look", '{"at": "a"}')),
        text_reply("ok"),
        features=[Box()],
    )

    def show(event: Event) -> None:
        if isinstance(event, ToolOutput):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        drive(main.run_line("hi"), show)
    run_turn(main, "again")
    check_whole(requests(main)[1])


@pytest.mark.parametrize("kind", ["StepFinished", "ToolStarted", "ToolFinished", "ThoughtKept"])
def test_a_screen_that_breaks_at_any_event_leaves_the_history_whole(kind: str) -> None:
    main = terminal(
        calls_reply(("c1", "look", '{"at": "a"}'), ("c2", "look", '{"at": "b"}'), thinking="Hm."),
        text_reply("ok"),
        features=[Box()],
        mode="think",
    )

    def show(event: Event) -> None:
        if type(event).__name__ == kind:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        drive(main.run_line("hi"), show)
    check_whole(main.history.messages())
    run_turn(main, "again")
    check_whole(requests(main)[1])


def test_stop_in_the_middle_of_a_reply_keeps_what_was_said() -> None:
    main = terminal(
        [Delta("half a "), lambda stop: stop.set(), Delta("sentence")], text_reply("ok")
    )
    events = run_turn(main, "hi")
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == "stopped"
    assert talk_of(main)[-1].text == "half a "


def test_stop_between_two_calls_answers_both() -> None:
    box = Box()
    main = terminal(
        calls_reply(("c1", "look", '{"at": "a"}'), ("c2", "look", '{"at": "b"}')), features=[box]
    )

    def show(event: Event) -> None:
        if isinstance(event, ToolFinished):
            main.stop.set()

    drive(main.run_line("hi"), show)
    assert box.ran == ["look a 1"]
    assert [answer.state for answer in talk_of(main)[2:]] == ["done", "stopped"]


def test_thinking_happens_once_a_task_and_its_conclusion_is_carried_on() -> None:
    main = terminal(
        call_reply("look", at="a", thinking="The bug is in b.py."),
        call_reply("look", id="c2", at="b"),
        text_reply("done"),
        call_reply("look", id="c3", at="c", thinking="Another plan."),
        text_reply("done"),
        features=[Box()],
        mode="think",
    )
    events = run_turn(main, "one")
    assert ThoughtKept("The bug is in b.py.") in events
    run_turn(main, "two")
    model = main.model
    assert isinstance(model, ScriptedModel)
    assert model.think_flags == [True, False, False, True, False]
    assert "The bug is in b.py." in model.requests[1][-1]["content"]
    for request in model.requests:
        assert all("reasoning_content" in m for m in request if m["role"] == "assistant")


def test_fast_mode_never_thinks() -> None:
    main = terminal(call_reply("look", at="a"), text_reply("x"), features=[Box()], mode="fast")
    run_turn(main, "hi")
    model = main.model
    assert isinstance(model, ScriptedModel)
    assert model.think_flags == [False, False]


def test_the_same_call_again_and_again_is_warned_about_and_then_stopped() -> None:
    main = terminal(*[call_reply("look", id=f"c{i}", at="a") for i in range(9)], features=[Box()])
    events = run_turn(main, "hi")
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == "step_limit"
    assert sum(isinstance(event, Warned) for event in events) == 1
    assert sum(isinstance(event, ToolFinished) for event in events) == 4
    told = [r.text for _, r in main.history.records if isinstance(r, Context)]
    assert sum("repeating" in text for text in told) == 1


def test_the_same_tool_with_ever_other_arguments_is_warned_about_only() -> None:
    main = terminal(
        *[call_reply("look", id=f"c{i}", at=str(i)) for i in range(12)],
        text_reply("ok"),
        features=[Box()],
    )
    events = run_turn(main, "hi")
    assert events[-1].why == "done"  # type: ignore[union-attr]
    assert sum(isinstance(event, Warned) for event in events) == 1


def test_looking_again_after_a_change_is_no_loop() -> None:
    replies = []
    for n in range(5):
        replies += [
            call_reply("look", id=f"a{n}", at="a"),
            call_reply("write", id=f"b{n}", path=str(n)),
        ]
    events = run_turn(terminal(*replies, text_reply("ok"), features=[Box()]), "hi")
    assert events[-1].why == "done"  # type: ignore[union-attr]
    assert not any(isinstance(event, Warned) for event in events)


def test_two_calls_in_turn_that_change_nothing_are_a_loop() -> None:
    replies = []
    for n in range(9):
        replies += [call_reply("look", id=f"a{n}", at="a"), call_reply("look", id=f"b{n}", at="b")]
    events = run_turn(terminal(*replies, features=[Box()]), "hi")
    assert events[-1].why == "step_limit"  # type: ignore[union-attr]


def test_the_step_limit_offers_to_go_on() -> None:
    main = terminal(
        *[call_reply("look", id=f"c{i}", at=str(i)) for i in range(3)],
        features=[Box()],
        step_limit=3,
    )
    events = run_turn(main, "hi")
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == "step_limit"
    assert "go on" in str(events[-1].detail)
    *_, told_again = replay_events(main.history.records)
    assert told_again == events[-1]


def test_the_budget_stops_the_next_model_call() -> None:
    main = terminal(call_reply("look", at="a"), features=[Box()], budget_usd=0.0005)
    events = run_turn(main, "hi")
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == "budget"
    assert "$0.0005 " in str(events[-1].detail)


def test_what_came_to_nothing_is_paid_for_all_the_same() -> None:
    lost = ModelError("reply", phrase("The model sent an empty reply."), USED)
    main = terminal([lost], [lost], budget_usd=USED.cost_usd)
    first, second = (run_turn(main, "hi")[-1] for _ in range(2))
    assert isinstance(first, TurnFinished)
    assert first.usage == main.usage == USED
    assert isinstance(second, TurnFinished)
    assert second.why == "budget"


def test_changes_are_followed() -> None:
    box = Box()
    run_turn(terminal(call_reply("write", path="a.txt"), text_reply("ok"), features=[box]), "hi")
    assert box.followed == [Change("created", "a.txt")]


class Holder(Feature, RecordsCalls, ProvidesWarnings):
    """Cannot hold the folder before a call (*early*) or after it."""

    def __init__(self, *, early: bool) -> None:
        self.early = early
        self.untold = [phrase("Mind the disk.")]

    def before_call(self, call_id: str, turn: int) -> None:
        if self.early:
            raise UserError(phrase("The disk is full."))

    def after_call(self, call_id: str, turn: int) -> None:
        raise UserError(phrase("The disk is full."))

    def warnings(self) -> list[Any]:
        told, self.untold = self.untold, []
        return told


def test_what_could_not_be_undone_does_not_run() -> None:
    box = Box()
    main = terminal(
        call_reply("write", path="a"), text_reply("ok"), features=[box, Holder(early=True)]
    )
    run_turn(main, "hi")
    assert box.ran == []
    assert talk_of(main)[2].text == "This call failed: The disk is full."


def test_a_checkpoint_lost_after_the_call_is_told_to_the_person() -> None:
    box = Box()
    main = terminal(
        call_reply("write", path="a"), text_reply("ok"), features=[box, Holder(early=False)]
    )
    events = run_turn(main, "hi")
    assert box.ran == ["write a"]
    assert talk_of(main)[2].text == "written"
    told = [str(event.what) for event in events if isinstance(event, Warned)]
    assert told == ["Mind the disk.", "The disk is full."]


def test_what_is_found_out_at_the_end_of_a_turn_is_told_before_that_end() -> None:
    class Late(Holder, FinishesTurns):
        def __init__(self) -> None:
            super().__init__(early=False)
            self.untold = []

        def on_turn_finished(self) -> None:
            self.untold = [phrase("Mind the disk.")]

    events = run_turn(terminal(text_reply("ok"), features=[Late()]), "hi")
    assert [type(event).__name__ for event in events[-2:]] == ["Warned", "TurnFinished"]


def test_every_record_is_kept_before_its_event_is_shown() -> None:
    main = terminal(call_reply("look", at="a"), text_reply("done"), features=[Box()])
    kept: dict[str, int] = {}

    def show(event: Event) -> None:
        kept[type(event).__name__] = len(main.store.records[main.session])  # type: ignore[attr-defined]

    drive(main.run_line("hi"), show)
    records = [type(r).__name__ for _, r in main.store.records[main.session]]  # type: ignore[attr-defined]
    assert records == ["StateRecord", "Context", "User", "Assistant", "ToolResult", "Assistant"]
    assert kept["TurnStarted"] == 3
    assert kept["ToolStarted"] == 4
    assert kept["ToolFinished"] == 5
    assert kept["TurnFinished"] == 6


def test_a_screen_that_replies_to_everything_breaks_nothing() -> None:
    class Warner(Feature, ProvidesWarnings):
        def __init__(self) -> None:
            self.untold = [phrase("Look here."), phrase("And here.")]

        def warnings(self) -> list[Phrase]:
            told, self.untold = self.untold, []
            return told

    main = terminal(call_reply("write", path="new"), text_reply("done"), features=[Box(), Warner()])
    events: list[Event] = []

    def show(event: Event) -> Reply:
        events.append(event)
        return Reply(yes=True)

    drive(main.run_line("go"), show)
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == "done"
    assert sum(isinstance(event, Warned) for event in events) == 2


def test_a_reply_that_only_repeats_a_failure_is_asked_to_mend_it_once() -> None:
    repeated = text_reply("This call failed: It cannot be done: because.")
    main = terminal(
        call_reply("fail"),
        repeated,
        call_reply("look", at="a"),
        text_reply("Seen."),
        features=[Box()],
    )
    events = run_turn(main, "do it")
    assert requests(main)[2][-1] == {"role": "system", "content": REPEATED_FAILURE_NOTE}
    assert sum(isinstance(event, Informed) for event in events) == 1
    assert not any(isinstance(event, Warned) for event in events)
    again = terminal(call_reply("fail"), repeated, repeated, features=[Box()])
    assert isinstance(run_turn(again, "do it")[-2], Warned)
    assert len(requests(again)) == 3


def test_a_failure_told_in_own_words_is_the_last_word() -> None:
    main = terminal(call_reply("fail"), text_reply("It could not be done."), features=[Box()])
    run_turn(main, "do it")
    assert len(requests(main)) == 2


def test_a_limit_of_one_model_call_is_told_as_one() -> None:
    main = terminal(call_reply("look"), features=[Box()], step_limit=1)
    end = run_turn(main, "go")[-1]
    assert isinstance(end, TurnFinished)
    assert str(end.detail).startswith("Stopped at the limit of 1 model call ")
