"""A question that nobody answered before we ended: it is asked again, and nothing ran meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.conversation.messages import ToolResult
from core.conversation.result_texts import LOST_TEXT, SUPERSEDED_TEXT
from core.conversation.transcript import Transcript
from core.events import (
    ApprovalAsked,
    Event,
    Reply,
    StepStarted,
    ThoughtKept,
    ToolStarted,
    TurnFinished,
    to_json,
)
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from core.web_terminal import TurnSuspended
from tests.core.loop.test_turn import Box, check_whole, requests, talk_of
from tests.core.test_web_terminal import Browser, web
from tests.scripted_model import (
    Item,
    MemoryStore,
    call_reply,
    calls_reply,
    run_turn,
    start_thread,
    terminal,
    text_reply,
)

WIPE = call_reply("wipe")
THREE = calls_reply(("a", "look", '{"at": "x"}'), ("b", "wipe", "{}"), ("c", "look", '{"at": "y"}'))


class Killed(Exception):
    """Stands for the moment in which the process is no more."""


def killed_at(
    is_it: Callable[[Event], bool], *replies: list[Item], **settings: Any
) -> tuple[MemoryStore, list[Event]]:
    """Return what is on disk if we are killed at an event, and the events until then."""
    main = terminal(*replies, features=[Box()], **settings)
    assert isinstance(main.store, MemoryStore)
    kept = MemoryStore()
    events: list[Event] = []

    def show(event: Event) -> Reply:
        events.append(event)
        if is_it(event):
            kept.records = {name: list(log) for name, log in main.store.records.items()}  # type: ignore[attr-defined]
            raise Killed
        return Reply(yes=True)

    with pytest.raises(Killed):
        drive(main.run_line("hi"), show)
    return kept, events


def at_question(event: Event) -> bool:
    return isinstance(event, ApprovalAsked)


def again(store: MemoryStore, *replies: list[Item], **settings: Any) -> tuple[MainTerminal, Box]:
    """Return the terminal of the next start, in the same session."""
    box = Box()
    main = terminal(*replies, features=[box], store=store, **settings)
    main.resume()
    return main, box


def go_on(main: MainTerminal, reply: Reply | None) -> list[Event]:
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        return reply if isinstance(event, ApprovalAsked) else None

    drive(main.resume_turn(), show)
    return events


def test_it_is_asked_again_and_the_turn_goes_on() -> None:
    store, before = killed_at(at_question, WIPE)
    main, box = again(store, text_reply("done"))
    assert main.has_open_turn
    assert main.history.incidents == []
    after = go_on(main, Reply(yes=True))
    assert box.ran == ["wipe"]
    assert before[-2:] == after[:2]
    assert [e.step for e in after if isinstance(e, StepStarted)] == [2]
    end = after[-1]
    assert isinstance(end, TurnFinished)
    assert (end.why, end.usage.requests) == ("done", 2)
    assert main.history.turn == 1
    assert not main.has_open_turn
    check_whole(requests(main)[0])


def test_what_was_run_before_it_is_not_run_again_and_what_is_behind_it_is() -> None:
    store, _ = killed_at(at_question, THREE)
    main, box = again(store, text_reply("done"))
    events = go_on(main, Reply(yes=False, reason="keep it"))
    assert [e.call_id for e in events if isinstance(e, ToolStarted)] == ["b", "c"]
    assert box.ran == ["look y 1"]
    answers = [r.text for r in talk_of(main) if isinstance(r, ToolResult)]
    assert answers == ["saw x", "The person said no: keep it", "saw y"]
    check_whole(requests(main)[0])


def test_it_can_be_left_any_number_of_times() -> None:
    store, _ = killed_at(at_question, THREE)
    for _ in range(3):
        main, _ = again(store, text_reply("done"))
        turn = main.resume_turn()
        while not at_question(next(turn)):
            pass
        turn.close()
        assert main.has_open_turn
    main, box = again(store, text_reply("done"))
    go_on(main, Reply(yes=True))
    assert box.ran == ["wipe", "look y 1"]
    assert main.history.incidents == []


def test_somebody_who_says_something_else_gets_it_done_and_nothing_ran() -> None:
    store, _ = killed_at(at_question, THREE)
    main, box = again(store, text_reply("I see"))
    run_turn(main, "leave it")
    assert box.ran == []
    answers = [r.text for r in talk_of(main) if isinstance(r, ToolResult)]
    assert answers == ["saw x", SUPERSEDED_TEXT, SUPERSEDED_TEXT]
    assert {turn for turn, r in main.history.records if isinstance(r, ToolResult)} == {1}
    assert main.history.incidents == []
    assert not main.has_open_turn
    check_whole(requests(main)[0])


def test_going_back_before_it_takes_it_back_whole() -> None:
    store, _ = killed_at(at_question, THREE)
    main, _ = again(store, text_reply("first"), text_reply("second"))
    main.rewind(1, key=1)
    run_turn(main, "hello")
    last, box = again(store, text_reply("third"))
    assert not last.has_open_turn
    assert last.history.incidents == []
    run_turn(last, "and now")
    check_whole(requests(last)[0])
    assert [r.text for r in talk_of(last)] == ["hello", "first", "and now", "third"]
    assert box.ran == []


def test_a_call_that_had_its_yes_is_lost_and_not_asked_about_again() -> None:
    def after_the_yes(event: Event) -> bool:
        return type(event).__name__ == "ToolFinished"

    store, _ = killed_at(after_the_yes, WIPE)
    log = store.records["s1"]
    del log[-1]  # the answer, which came right before the event
    main, box = again(store, text_reply("I look"))
    assert not main.has_open_turn
    assert talk_of(main)[-1].text == LOST_TEXT
    assert main.history.incidents == [{"lost": 1, "mended": 0}]
    assert box.ran == []


@pytest.mark.parametrize("mode", ["guarded", "all"])
def test_it_is_asked_again_where_it_would_not_be_asked_any_more(mode: Any) -> None:
    store, _ = killed_at(at_question, call_reply("write", path="a"), approval_mode="ask")
    main, box = again(store, call_reply("write", path="b"), text_reply("ok"))
    main.approval.mode = mode  # as `--approve` with `--resume` has it
    asked = [e.why for e in go_on(main, Reply(yes=True)) if isinstance(e, ApprovalAsked)]
    assert list(map(str, asked)) == ["You were asked about it before Onefold ended."]
    assert box.ran == ["write a", "write b"]


def test_what_may_not_run_any_more_is_not_asked_about() -> None:
    store, _ = killed_at(at_question, WIPE, approval_mode="ask")
    main, box = again(store, text_reply("ok"), approval_mode="read-only")
    assert not main.has_open_turn
    run_turn(main, "go on")
    assert box.ran == []
    assert talk_of(main)[2].text == SUPERSEDED_TEXT


def test_what_the_first_step_concluded_is_carried_on() -> None:
    store, _ = killed_at(at_question, call_reply("wipe", thinking="It has to go."), mode="think")
    main, _ = again(store, text_reply("done"))
    assert [e.text for e in go_on(main, Reply(yes=True)) if isinstance(e, ThoughtKept)]
    assert "It has to go." in requests(main)[0][-1]["content"]


def test_who_joins_after_the_restart_sees_what_everybody_would_have_seen() -> None:
    store, _ = killed_at(at_question, THREE)
    browser = Browser()
    page = web(browser, text_reply("done"), store=store)
    page.resume()
    worker = start_thread(page.stream_resumed_turn)
    asked = browser.wait_for("ApprovalAsked")
    assert page.open_questions == (asked["call_id"],)
    _, _, events = page.delivery.snapshot(30)
    assert [e["type"] for e in events] == [
        "TurnStarted", "StepStarted", "StepFinished", "ToolStarted", "ToolFinished",
        "ToolStarted", "ApprovalAsked",
    ]  # fmt: skip
    assert page.answer_question(asked["call_id"], Reply(yes=True))
    worker.join(120)
    live = Transcript()
    for event in run_turn(
        terminal(THREE, text_reply("done"), features=[Box()]), "hi", Reply(yes=True)
    ):
        live.add(to_json(event))
    assert without_times(page.delivery.snapshot(30)[2]) == without_times(live.tail(30)[1])


def without_times(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**event, "seconds": 0, "changes": []} for event in events]


def test_a_screen_that_leaves_leaves_the_question_too() -> None:
    store = MemoryStore()
    browser = Browser()
    page = web(browser, WIPE, store=store)
    left: list[BaseException] = []

    def work() -> None:
        try:
            page.handle("hi")
        except TurnSuspended as error:
            left.append(error)

    worker = start_thread(work)
    asked = browser.wait_for("ApprovalAsked")
    assert page.suspend()
    assert not page.answer_question(asked["call_id"], Reply(yes=True))
    worker.join(120)
    assert left
    assert not page.suspend()
    main, box = again(store, text_reply("done"))
    go_on(main, Reply(yes=True))
    assert box.ran == ["wipe"]
