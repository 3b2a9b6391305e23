"""What a person may make of a call that they are asked about, and what the model reads of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cards import Card, DiffCard, TextCard, TreeCard
from core.conversation.messages import Assistant, ToolResult
from core.conversation.transcript import Packet, Transcript, replay_events
from core.events import (
    ApprovalAsked,
    Event,
    Reply,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    to_json,
)
from core.loop.turn import drive
from core.tools import ToolError
from core.web_terminal import WebTerminal
from tests.assembly import assembled_terminal
from tests.core.loop.test_turn import Box, check_whole, requests, talk_of
from tests.core.test_web_terminal import Browser, web
from tests.scripted_model import call_reply, run_turn, start_thread, terminal, text_reply
from utils.i18n import UserError


def started(events: list[Event]) -> list[tuple[dict[str, Any], bool]]:
    return [(e.arguments, e.is_revised) for e in events if isinstance(e, ToolStarted)]


def test_the_tool_runs_with_what_the_person_made_of_the_arguments_and_the_model_is_told() -> None:
    box = Box()
    main = terminal(
        call_reply("write", path="a"), text_reply("ok"), features=[box], approval_mode="ask"
    )
    events = run_turn(main, "hi", Reply(yes=True, arguments={"path": "b"}))
    assert box.ran == ["write b"]
    assert started(events) == [({"path": "a"}, False), ({"path": "b"}, True)]
    _, reply, answer, _ = talk_of(main)
    assert isinstance(reply, Assistant)
    assert json.loads(reply.calls[0].arguments) == {"path": "a"}  # as the model made it
    assert isinstance(answer, ToolResult)
    assert answer.text == (
        "The person changed this call before it ran; these arguments are other now:\n"
        "path: b\nWhat came of it:\nwritten"
    )
    assert answer.revised == {"path": "b"}
    check_whole(requests(main)[1])


def test_what_the_person_left_as_it_was_is_no_change() -> None:
    main = terminal(
        call_reply("write", path="a"), text_reply("ok"), features=[Box()], approval_mode="ask"
    )
    events = run_turn(main, "hi", Reply(yes=True, arguments={"path": "a"}))
    assert started(events) == [({"path": "a"}, False)]
    assert talk_of(main)[2].text == "written"


def test_a_long_text_is_told_as_a_difference() -> None:
    lines = [f"line {n}" for n in range(100)]
    main = terminal(
        call_reply("write", path="\n".join(lines)),
        text_reply("ok"),
        features=[Box()],
        approval_mode="ask",
    )
    run_turn(
        main,
        "hi",
        Reply(yes=True, arguments={"path": "\n".join([*lines[:50], "mine", *lines[51:]])}),
    )
    told = talk_of(main)[2].text
    assert "+mine" in told
    assert "-line 50" in told
    assert "line 3\n" not in told


def test_arguments_that_the_tool_cannot_take_are_asked_about_again() -> None:
    box = Box()
    main = terminal(
        call_reply("write", path="a"), text_reply("ok"), features=[box], approval_mode="ask"
    )
    replies = [
        Reply(yes=True, arguments={"path": 3}),
        Reply(yes=True, always=True, pattern="wipe *"),
        Reply(yes=True, arguments={"path": "b"}),
    ]
    asked: list[ApprovalAsked] = []

    def show(event: Event) -> Reply | None:
        if not isinstance(event, ApprovalAsked):
            return None
        asked.append(event)
        return replies[len(asked) - 1]

    drive(main.run_line("hi"), show)
    assert "must be of type string" in str(asked[1].why)
    assert "does not cover this call" in str(asked[2].why)
    assert (box.ran, main.approval.patterns) == (["write b"], [])


def test_an_always_holds_for_the_pattern_that_the_person_wrote() -> None:
    box = Box()
    main = terminal(
        call_reply("write", path="a"),
        call_reply("write", id="c2", path="b"),
        text_reply("ok"),
        features=[box],
        approval_mode="ask",
    )
    asked: list[str] = []

    def show(event: Event) -> Reply | None:
        if not isinstance(event, ApprovalAsked):
            return None
        asked.append(event.call_id)
        return Reply(yes=True, always=event.call_id == "c1", pattern="write a")

    drive(main.run_line("hi"), show)
    assert main.approval.patterns == ["write a"]
    assert asked == ["c1", "c2"]


def ask_page(page: WebTerminal, browser: Browser) -> str:
    start_thread(lambda: page.handle("hi"))
    call_id: str = browser.wait_for("ApprovalAsked")["call_id"]
    return call_id


def test_a_page_that_sends_what_cannot_be_keeps_its_question() -> None:
    browser = Browser()
    page = web(browser, call_reply("write", path="a"), text_reply("ok"), approval_mode="ask")
    call_id = ask_page(page, browser)
    with pytest.raises(ToolError, match="must be of type string"):
        page.answer_question(call_id, Reply(yes=True, arguments={"path": 3}))
    with pytest.raises(UserError, match="does not cover"):
        page.answer_question(call_id, Reply(yes=True, always=True, pattern="wipe *"))
    assert page.open_questions == (call_id,)
    assert page.answer_question(call_id, Reply(yes=True, arguments={"path": "b"}))
    browser.wait_for("TurnFinished")
    revised = [p for p in browser.packets if p["type"] == "ToolStarted"][1]
    assert (revised["arguments"], revised["is_revised"]) == ({"path": "b"}, True)


def of_calls(packets: list[Packet]) -> list[tuple[str, Any]]:
    kinds = ("ToolStarted", "ToolFinished", "ApprovalAsked")
    return [(p["type"], p.get("arguments")) for p in packets if p["type"] in kinds]


def test_a_screen_that_comes_late_sees_what_ran() -> None:
    main = terminal(
        call_reply("write", path="a"), text_reply("ok"), features=[Box()], approval_mode="ask"
    )
    events = run_turn(main, "hi", Reply(yes=True, arguments={"path": "b"}))
    again = list(replay_events(main.history.records))
    assert started(again) == [({"path": "b"}, True)]
    folded = Transcript(main.history.records).tail(9)[1]
    live = Transcript()
    for event in events:
        live.add(to_json(event))
    assert of_calls(live.tail(9)[1]) == of_calls(folded)


# --- what a question shows -----------------------------------------------------------------------


def shown(base: Path, name: str, **arguments: Any) -> Card:
    """Return the preview of a call on a small project."""
    replies = [call_reply(name, **arguments), text_reply("ok")]
    with assembled_terminal(base, *replies, approval_mode="ask") as made:
        (made.root / "src").mkdir()
        (made.root / "src" / "a.py").write_text("one\ntwo\nthree\n")
        (made.root / "image").write_bytes(b"\x89PNG\x00\x01")
        asked = [e for e in run_turn(made.terminal, "hi") if isinstance(e, ApprovalAsked)]
        assert (made.root / "src" / "a.py").read_text() == "one\ntwo\nthree\n"
        return asked[0].preview


def test_a_new_file_is_shown_whole(tmp_path: Path) -> None:
    card = shown(tmp_path, "create_file", path="b.txt", content="x\ny\n")
    assert isinstance(card, DiffCard)
    assert (card.path, card.diff, card.added) == ("b.txt", "@@ -0,0 +1,2 @@\n+x\n+y", 2)
    assert str(card.note) == "A new file."


def test_a_new_file_where_there_is_one_would_fail_unless_it_is_to_replace_it(
    tmp_path: Path,
) -> None:
    card = shown(tmp_path, "create_file", path="src/a.py", content="x\n")
    assert isinstance(card, TextCard)
    assert "exists already" in str(card.title)


def test_what_replaces_a_file_is_shown_as_its_difference(tmp_path: Path) -> None:
    card = shown(tmp_path, "create_file", path="src/a.py", content="one\nx\n", overwrite=True)
    assert isinstance(card, DiffCard)
    assert (card.added, card.removed, str(card.note)) == (1, 2, "Replaces the whole file.")


def test_a_change_is_shown_against_what_the_file_holds(tmp_path: Path) -> None:
    card = shown(tmp_path, "modify_file", path="src/a.py", operation="replace", old="two", new="2")
    assert isinstance(card, DiffCard)
    assert card.diff == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"


def test_a_change_that_would_fail_says_so(tmp_path: Path) -> None:
    card = shown(tmp_path, "modify_file", path="src/a.py", operation="replace", old="ten", new="10")
    assert isinstance(card, TextCard)
    assert "would fail" in str(card.title)
    assert "old: ten" in str(card.body)


def test_a_rename_shows_both_names(tmp_path: Path) -> None:
    card = shown(tmp_path, "rename_file", path="src/a.py", new_path="src/b.py")
    assert isinstance(card, DiffCard)
    assert card.diff == "@@ -1 +1 @@\n-src/a.py\n+src/b.py"


def test_a_deletion_shows_what_would_be_gone(tmp_path: Path) -> None:
    card = shown(tmp_path, "delete_file", path="src/a.py")
    assert isinstance(card, DiffCard)
    assert (card.removed, card.added) == (3, 0)


def test_the_deletion_of_what_is_no_text_says_how_much_it_is(tmp_path: Path) -> None:
    card = shown(tmp_path, "delete_file", path="image")
    assert isinstance(card, TextCard)
    assert "6 bytes" in str(card.body)


def test_the_deletion_of_a_folder_shows_what_is_in_it(tmp_path: Path) -> None:
    card = shown(tmp_path, "delete_folder", path="src", recursive=True)
    assert isinstance(card, TreeCard)
    assert [entry.path for entry in card.entries] == ["src/a.py"]


def test_a_question_shows_no_secret(tmp_path: Path) -> None:
    replies = [
        call_reply("modify_file", path=".env", operation="append", new="B=1\n"),
        text_reply("ok"),
    ]
    with assembled_terminal(tmp_path, *replies, approval_mode="ask") as made:
        (made.root / ".env").write_text("API_TOKEN=ghp_0123456789abcdefghij\n")
        asked = [e for e in run_turn(made.terminal, "hi") if isinstance(e, ApprovalAsked)]
        card = asked[0].preview
    assert isinstance(card, DiffCard)
    assert "ghp_0123" not in card.diff
    assert "API_TOKEN=«SECRET:API_TOKEN»" in card.diff


def test_a_secret_that_the_person_types_runs_and_is_never_told(tmp_path: Path) -> None:
    replies = [call_reply("create_file", path="a.txt", content="x"), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies, approval_mode="ask") as made:
        (made.root / ".env").write_text("API_TOKEN=ghp_0123456789abcdefghij\n")
        content = "with ghp_0123456789abcdefghij and «SECRET:API_TOKEN»"
        reply = Reply(yes=True, arguments={"path": "a.txt", "content": content})
        events = run_turn(made.terminal, "hi", reply)
        value = "ghp_0123456789abcdefghij"
        assert (made.root / "a.txt").read_text() == f"with {value} and {value}"
        assert value not in repr(events)
        assert value not in repr(made.model.requests)
        assert value not in repr(made.store.load(made.terminal.session))
        assert any(isinstance(e, ToolFinished) and e.state == "done" for e in events)


@pytest.mark.parametrize("is_stopped", [False, True])
def test_the_time_of_a_call_and_of_its_turn_is_without_that_of_its_question(
    monkeypatch: pytest.MonkeyPatch, is_stopped: bool
) -> None:
    clock = [0.0]
    monkeypatch.setattr("core.loop.tool_calls.time.monotonic", lambda: clock[0])
    main = terminal(call_reply("wipe"), text_reply("ok"), features=[Box()])
    ended: list[ToolFinished | TurnFinished] = []

    def show(event: Event) -> Reply | None:
        if isinstance(event, ToolFinished | TurnFinished):
            ended.append(event)
        if not isinstance(event, ApprovalAsked):
            return None
        clock[0] += 60.0
        if is_stopped:
            main.stop.set()
        return Reply(yes=True)

    drive(main.run_line("hi"), show)
    assert [end.seconds for end in ended] == [0.0, 0.0]
