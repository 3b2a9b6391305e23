from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.conversation.messages import ToolCall, ToolResult
from core.events import ApprovalAsked, Reply, TurnFinished, Warned
from core.loop.loop_detection import LoopDetector, Verdict
from tests.assembly import assembled_terminal
from tests.core.loop.test_turn import Box
from tests.scripted_model import ScriptedModel, call_reply, run_turn, terminal, text_reply


def verdicts(moves: str, standing: str = "") -> list[Verdict]:
    """Return what is said of one call after another, each a reply of its own."""
    progress = LoopDetector()
    found = []
    for move in moves:
        progress.begin_reply()
        one, answer = ToolCall("c", move, "{}"), ToolResult("c", move, f"saw {move}")
        found.append(progress.observe(one, answer, standing, has_changed=False))
    return found


@pytest.mark.parametrize(
    ("moves", "told", "asked"),
    [
        ("AAAA", 3, 4),
        ("ABABAB", 4, 6),
        ("ABCABCABC", 6, 9),
        ("XABABAB", 5, 7),
        ("ABCDABCDABCD", 8, 12),
        ("ABACAXA", 5, 7),
    ],
)
def test_a_loop_is_told_first_and_then_asked_about(moves: str, told: int, asked: int) -> None:
    said = verdicts(moves)
    assert said.index("think") == told - 1
    assert said.index("ask") == asked - 1


def test_work_is_no_loop() -> None:
    assert set(verdicts("ABCDEFGAHIBJK")) == {""}


def test_the_same_call_that_changes_things_each_time_is_warned_about_and_goes_on(
    tmp_path: Path,
) -> None:
    def more(number: int) -> Any:
        return call_reply(
            "modify_file", id=f"c{number}", path="log", operation="append", new="more\n"
        )

    made = call_reply("create_file", id="c", path="log", content="")
    with assembled_terminal(tmp_path, made, *map(more, range(6)), text_reply("ok")) as env:
        events = run_turn(env.terminal, "hi")
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].why == "done"
        assert sum(isinstance(event, Warned) for event in events) == 1
        assert isinstance(env.model, ScriptedModel)
        assert not any(env.model.think_flags)
        assert (env.root / "log").read_text() == "more\n" * 6


def test_the_same_call_on_the_same_state_is_a_loop_whatever_it_answers() -> None:
    progress = LoopDetector()
    found = []
    for number in range(4):
        progress.begin_reply()
        answer = ToolResult("c", "now", f"answer {number}")
        found.append(
            progress.observe(ToolCall("c", "now", "{}"), answer, "same", has_changed=False)
        )
    assert found == ["", "", "think", "ask"]


def test_the_same_calls_in_turn_on_another_state_each_time_are_no_loop() -> None:
    progress = LoopDetector()
    found = []
    for number in range(6):
        for name in ("test", "edit"):
            progress.begin_reply()
            answer = ToolResult("c", name, "as before")
            one = ToolCall("c", name, "{}")
            found.append(progress.observe(one, answer, f"state {number}", has_changed=True))
    assert set(found) == {""}


def test_durations_make_no_difference() -> None:
    progress = LoopDetector()
    found = []
    for number in range(2):
        for name in ("test", "list"):
            progress.begin_reply()
            answer = ToolResult("c", name, f"3 failed in 0.{number}1s at 10:00:0{number}")
            found.append(
                progress.observe(ToolCall("c", name, "{}"), answer, "same", has_changed=False)
            )
    assert found[-1] == "think"


def test_the_step_after_the_warning_thinks_even_in_fast_mode() -> None:
    replies = [call_reply("look", id=f"c{n}", at="ab"[n % 2]) for n in range(5)]
    main = terminal(*replies, text_reply("I am stuck."), features=[Box()])
    events = run_turn(main, "hi")
    assert isinstance(main.model, ScriptedModel)
    assert main.model.think_flags == [False, False, False, False, True, False]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == "done"


@pytest.mark.parametrize("limit", [0, 100])
@pytest.mark.parametrize(("reply", "why"), [(None, "step_limit"), (Reply(yes=True), "done")])
def test_the_person_decides_whether_a_loop_goes_on(
    reply: Reply | None, why: str, limit: int
) -> None:
    replies = [call_reply("look", id=f"c{n}", at="a") for n in range(5)]
    main = terminal(*replies, text_reply("ok"), features=[Box()], step_limit=limit)
    events = run_turn(main, "hi", reply)
    asked = [event for event in events if isinstance(event, ApprovalAsked)]
    assert [event.risk for event in asked] == ["loop"]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == why


def test_writing_and_deleting_the_same_file_is_a_loop(tmp_path: Path) -> None:
    replies = []
    for number in range(4):
        replies.append(call_reply("create_file", id=f"a{number}", path="x", content="x"))
        replies.append(call_reply("delete_file", id=f"b{number}", path="x"))
    with assembled_terminal(tmp_path, *replies) as env:
        events = run_turn(env.terminal, "hi")
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].why == "step_limit"


def test_todos_that_get_on_are_progress(tmp_path: Path) -> None:
    replies = []
    for number in range(4):
        todos = [{"title": f"part {number}", "status": "pending"}]
        replies.append(call_reply("list_files", id=f"a{number}"))
        replies.append(call_reply("update_todos", id=f"b{number}", todos=todos))
    with assembled_terminal(tmp_path, *replies, text_reply("ok"), text_reply("ok")) as env:
        events = run_turn(env.terminal, "hi")
        assert isinstance(events[-1], TurnFinished)
        assert events[-1].why == "done"
