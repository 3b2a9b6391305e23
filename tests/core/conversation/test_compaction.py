from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.conversation import compaction
from core.conversation.history import TurnRecord
from core.conversation.messages import Assistant, StateRecord, ToolCall, ToolResult, User
from core.events import CommandAnswered, Warned
from core.main_terminal import MainTerminal
from modules.practice.practice_model import reply_to as practice
from modules.prompts import prompt
from tests.assembly import assembled_terminal
from tests.core.loop.test_turn import Box, check_whole
from tests.scripted_model import ScriptedModel, call_reply, run_turn, terminal, text_reply
from utils.i18n import phrase
from utils.llm.completion import Completion, ModelError, Usage
from utils.text.tokens import estimate_tokens

LONG = "word " * 400


def with_usage(text: str, tokens: int) -> Any:
    return [Completion(text, "", (), Usage(tokens, 0, tokens, 10, 0, 1, 0.0))]


def make(*replies: Any, **settings: Any) -> MainTerminal:
    settings = {"context_limit": 10_000, "summary_prompt": "You sum up a conversation.", **settings}
    return terminal(*replies, features=[Box()], **settings)


def contents(main: MainTerminal) -> list[str]:
    assert isinstance(main.model, ScriptedModel)
    return [m["content"] for m in main.model.requests[-1]]


def digests(main: MainTerminal) -> list[Any]:
    return [
        r.value for _, r in main.history.log if isinstance(r, StateRecord) and r.name == "digest"
    ]


def test_older_turns_give_way_to_a_digest_at_85_percent() -> None:
    main = make(
        call_reply("look", at="a"), with_usage(LONG, 3_000), with_usage(LONG, 8_600),
        text_reply("- looked at a"), call_reply("look", id="c2", at="b"), text_reply("done"),
    )  # fmt: skip
    run_turn(main, "first: never touch b")
    run_turn(main, "second")
    before = list(main.history.log)
    events = run_turn(main, "third")
    assert sum(isinstance(event, Warned) for event in events) == 2
    assert main.history.log[: len(before)] == before
    assert len(digests(main)) == 1
    said = contents(main)
    assert "- looked at a" in said[1]
    assert "[turn 1] first: never touch b" in said[1]
    assert "second" not in said[2:] or "second" in said
    assert isinstance(main.model, ScriptedModel)
    check_whole(main.model.requests[-1])
    assert main.history.turns == [1, 2, 3]
    again = main.history
    rebuilt = type(again)(lambda turn, *records: None)
    rebuilt.replay(again.log)
    assert rebuilt.messages() == again.messages()
    assert rebuilt.usage == again.usage


@pytest.mark.parametrize(
    "reply",
    [text_reply("   "), text_reply("x" * 30_000), [ModelError("network", phrase("No network."))],
     [Completion("half", "", (), Usage(), is_cut=True)]],
)  # fmt: skip
def test_a_digest_that_is_no_use_changes_nothing_and_is_not_tried_again(reply: Any) -> None:
    main = make(with_usage(LONG, 3_000), with_usage(LONG, 8_600), reply,
                call_reply("look", at="a"), text_reply("done"))  # fmt: skip
    for line in ("first", "second", "third"):
        events = run_turn(main, line)
    assert digests(main) == []
    assert sum(isinstance(event, Warned) for event in events) == 2
    assert LONG in contents(main)


def test_summing_up_is_not_tried_again_before_there_was_room() -> None:
    full = [with_usage(LONG, 8_600 + turn) for turn in range(3)]
    main = make(
        with_usage(LONG, 3_000),
        full[0],
        text_reply(" "),
        *full[1:],
        with_usage(LONG, 3_000),
        with_usage(LONG, 8_600),
        text_reply("- all of it"),
        text_reply("done"),
    )
    for turn in range(7):
        run_turn(main, f"line {turn}")
    assert isinstance(main.model, ScriptedModel)
    asked = [m[0]["content"] == "You sum up a conversation." for m in main.model.requests]
    assert asked.count(True) == 2
    assert len(digests(main)) == 1


def test_it_is_said_when_turns_are_left_out_for_want_of_a_digest() -> None:
    main = make(
        with_usage(LONG, 3_000), with_usage(LONG, 9_200), text_reply(" "), text_reply("done")
    )
    for line in ("first", "second"):
        run_turn(main, line)
    warnings = [event for event in run_turn(main, "third") if isinstance(event, Warned)]
    assert len(warnings) == 3
    assert "no longer sees the turns before" in str(warnings[-1].what)
    assert "first" not in str(contents(main)[1:])


def test_a_summary_that_saves_nothing_is_not_taken() -> None:
    words = "word " * 700
    main = make(
        with_usage("ok", 3_000),
        with_usage("ok", 8_600),
        text_reply("- s" * 400),
        text_reply("done"),
    )
    for _ in range(3):
        run_turn(main, words)
    assert digests(main) == []


def test_todos_focus_and_notes_survive(tmp_path: Path) -> None:
    todos = [{"title": "write it up", "status": "pending"}]
    replies = [
        call_reply("create_file", path="a.txt", content="the text"),
        call_reply("annotate_file", id="c2", path="a.txt", note="mind this"),
        call_reply("update_todos", id="c3", todos=todos), text_reply("ok"), text_reply(LONG),
        text_reply(LONG), text_reply("- a.txt was made"), text_reply("ok"),
    ]  # fmt: skip
    with assembled_terminal(tmp_path, *replies, summary_prompt="You sum up a conversation.") as env:
        run_turn(env.terminal, "one")
        run_turn(env.terminal, "/focus a.txt")
        run_turn(env.terminal, "two")
        (event,) = run_turn(env.terminal, "/compact")
        assert isinstance(event, CommandAnswered)
        assert event.ok
        run_turn(env.terminal, "three")
        told = str(env.model.requests[-1])
        for word in ("write it up", "the text", "mind this", "- a.txt was made", "[turn 1] one"):
            assert word in told
        assert "create_file" not in told
        run_turn(env.terminal, "/rewind 2")
        assert env.terminal.history.turns == [1]
        assert "create_file" in str(env.terminal.history.messages())


def test_what_was_left_out_can_be_read(tmp_path: Path) -> None:
    read = [call_reply("read_file", id="r1", path="@history"),
            call_reply("read_file", id="r2", path="@history/1"),
            call_reply("read_file", id="r3", path="@history/9")]  # fmt: skip
    with assembled_terminal(
        tmp_path, text_reply("the secret is 42"), *read, text_reply("ok")
    ) as env:
        run_turn(env.terminal, "tell me")
        run_turn(env.terminal, "what was it?")
        answers = [m["content"] for m in env.model.requests[-1] if m["role"] == "tool"]
        assert "@history/1: tell me" in answers[0]
        assert "the secret is 42" in answers[1]
        assert answers[2].startswith("This call failed:")


def test_there_is_nothing_to_sum_up_in_one_turn() -> None:
    main = make(text_reply("hello"))
    run_turn(main, "hi")
    (event,) = run_turn(main, "/compact")
    assert isinstance(event, CommandAnswered)
    assert not event.ok


def test_what_is_summed_up_is_not_summed_up_again() -> None:
    main = make(
        text_reply("hello"),
        text_reply("again"),
        text_reply("- they said hello"),
        text_reply("more"),
        text_reply("- news"),
    )
    run_turn(main, "hi")
    run_turn(main, "ho")
    first, second = compacted(main), compacted(main)
    run_turn(main, "hu")
    third = compacted(main)
    assert [first.ok, second.ok, third.ok] == [True, False, True]
    assert "Nothing to summarize" in str(second.card)


def compacted(main: MainTerminal) -> CommandAnswered:
    (event,) = run_turn(main, "/compact")
    assert isinstance(event, CommandAnswered)
    return event


def test_the_request_for_a_digest_is_bounded() -> None:
    reply = Assistant(LONG * 10, calls=(ToolCall("c", "look", "{}"),))
    records: list[TurnRecord] = [
        (turn, record)
        for turn in range(1, 200)
        for record in (User(LONG * 10), reply, ToolResult("c", "look", LONG * 10))
    ]
    messages = compaction.summary_request("p", records, 10_000)
    assert estimate_tokens(messages[1]["content"]) <= 4_500


def test_the_practice_model_sums_up() -> None:
    records: list[TurnRecord] = [
        (1, User("make a.txt")),
        (1, Assistant("made")),
        (2, User("run it")),
    ]
    messages = compaction.summary_request(prompt("digest"), records, 100_000)
    reply = practice({"messages": messages})
    assert "- asked: make a.txt" in reply.text
    assert reply.calls == ()
