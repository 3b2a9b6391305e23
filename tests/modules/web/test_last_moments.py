"""Stops and ends that come at the very moment at which a turn begins, ends or waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from core.feature import Feature
from core.hooks import RestsAfterTurns
from core.web_terminal import WebTerminal
from modules.web.http.errors import ApiError
from modules.web.sessions.notifier import Notifier
from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer
from tests.modules.web.test_sessions_live import held
from tests.scripted_model import call_reply, text_reply
from utils.llm.completion import Delta

Serve = Callable[..., AbstractContextManager[RunningServer]]


class Tired(Feature, RestsAfterTurns):
    """Rests after a turn until it is woken."""

    def __init__(self) -> None:
        self.rests, self.awake = threading.Event(), threading.Event()

    def on_turn_end(self) -> None:
        self.rests.set()
        assert self.awake.wait(TIMEOUT_SECONDS)


def test_a_stop_in_the_last_moment_of_a_turn_holds_the_queue_too(serve: Serve) -> None:
    tired = Tired()
    with (
        serve(text_reply("one"), text_reply("two"), make_features=lambda *_: [tired]) as served,
        served.page() as page,
    ):
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        assert tired.rests.wait(TIMEOUT_SECONDS)
        assert page.call("send", session=session, cmd="c2", text="two")["queued"]
        assert page.call("stop", session=session, cmd="s1")["running"]
        tired.awake.set()
        state = page.wait_for("state", running=False)
        assert (state["paused"], state["stopping"]) == (True, False)
        page.call("queue", session=session, cmd="q1", op="now", id="c2")
        assert page.wait_for("TurnStarted")["text"] == "two"
        page.wait_for("state", running=False)


def test_a_turn_that_ends_while_it_is_stopped_leaves_the_stop_to_no_other(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, has_begun = threading.Event(), threading.Event(), threading.Event()
    tell = Notifier.send_state

    def told_late(telling: Notifier) -> None:
        """Let the first turn end by itself, and the next begin, while its stop is told of."""
        if threading.current_thread() is hurried:
            first.set()
            assert has_begun.wait(TIMEOUT_SECONDS)
        tell(telling)

    replies = [
        [Delta("begun"), held(first), *text_reply("begun")[1:]],
        [held(second), *text_reply("urgent")],
    ]
    with serve(*replies) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("TextDelta")
        page.call("send", session=session, cmd="c2", text="two")
        (seat,) = served.server.registry.open_runners
        hurried = threading.Thread(target=seat.rearrange, args=("now", "c2", 0))
        monkeypatch.setattr(Notifier, "send_state", told_late)
        hurried.start()
        assert page.wait_for("TurnStarted", text="two")
        has_begun.set()
        hurried.join(TIMEOUT_SECONDS)
        second.set()
        assert page.wait_for("TurnFinished")["why"] == "done"
        page.wait_for("state", running=False)


def left_at_a_question(serve: Serve) -> str:
    """Return a session whose server ended while it asked."""
    with serve(call_reply("wipe")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="c1", text="one")
        page.wait_for("state", asked=["c1"])
        return session


def test_a_stop_before_the_question_is_asked_again_is_no_less_one(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = left_at_a_question(serve)
    gate, take_up = threading.Event(), WebTerminal.stream_resumed_turn

    def late(terminal: WebTerminal) -> None:
        assert gate.wait(TIMEOUT_SECONDS)
        take_up(terminal)

    monkeypatch.setattr(WebTerminal, "stream_resumed_turn", late)
    with serve() as served, served.page() as page:
        page.attach(session)
        assert page.call("stop", session=session, cmd="s")["running"]
        gate.set()
        assert page.wait_for("TurnFinished")["why"] == "stopped"
        page.wait_for("state", running=False, asked=[])


def test_a_question_that_is_not_asked_again_yet_outlives_the_next_end_too(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = left_at_a_question(serve)
    gate, take_up, leave = threading.Event(), WebTerminal.stream_resumed_turn, WebTerminal.suspend

    def late(terminal: WebTerminal) -> None:
        assert gate.wait(TIMEOUT_SECONDS)
        take_up(terminal)

    def left(terminal: WebTerminal) -> bool:
        is_open = leave(terminal)
        gate.set()
        return is_open

    with monkeypatch.context() as slow:
        slow.setattr(WebTerminal, "stream_resumed_turn", late)
        slow.setattr(WebTerminal, "suspend", left)
        with serve() as served, served.page() as page:
            page.attach(session)
    with serve() as served, served.page() as page:
        page.attach(session)
        page.wait_for("state", asked=["c1"])


def test_a_message_to_a_session_that_is_closed_at_that_moment_is_refused(serve: Serve) -> None:
    with serve() as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        workspace = served.server.registry
        seat = workspace.open(session)
        workspace.close()
        with pytest.raises(ApiError, match="closed"):
            seat.send("c1", "one")
        assert [row["id"] for row in workspace.rows(archived=False, limit=9)] == []
        assert page.attach(session)["state"]["queue"] == []
