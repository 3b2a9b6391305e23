"""Stops and ends that come at the very moment at which a turn begins, ends or waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from core.feature import Feature
from core.hooks import RestsAfterTurns
from core.web_terminal import WebTerminal
from modules.web.http.errors import ApiError
from modules.web.sessions.notifier import Notifier
from tests.modules.web.serving import TIMEOUT_SECONDS, Answer, RunningServer
from tests.modules.web.test_changes import NEW, OLD, REPLIES, Talk, make_features
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


class Watched(threading.Condition):
    """Tells when somebody waits for it."""

    def __init__(self, lock: threading.Lock) -> None:
        super().__init__(lock)
        self.is_awaited = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.is_awaited.set()
        return super().wait(timeout)


class LastMoment:
    """A third turn that changed nothing, which is shown as over and held at its very end."""

    def __init__(self, talk: Talk, tired: Tired) -> None:
        self.talk, self.page, self.tired = talk, talk.page, tired
        self.runner = talk.served.server.registry.open(talk.session)
        self.runner._left = self.watched = Watched(self.runner._lock)
        self.answers: list[Answer] = []

    def begin(self) -> None:
        self.tired.rests.clear()
        self.tired.awake.clear()
        self.page.call("send", session=self.talk.session, cmd="t3", text="go")
        self.page.wait_for("TurnFinished")
        assert self.tired.rests.wait(TIMEOUT_SECONDS)

    def ask(self, path: str, body: Any) -> threading.Thread:
        """Ask for something, and return once that waits or is answered."""
        whole = f"/api/sessions/{self.talk.session}{path}"
        asking = threading.Thread(
            target=lambda: self.answers.append(self.talk.served.ask("POST", whole, body))
        )
        asking.start()
        while asking.is_alive() and not self.watched.is_awaited.is_set():
            asking.join(0.01)
        return asking

    def answer(self, asking: threading.Thread) -> Answer:
        asking.join(TIMEOUT_SECONDS)
        (answer,) = self.answers
        return answer


@pytest.fixture
def over() -> threading.Event:
    """Lets the reply to a fourth message come."""
    return threading.Event()


@pytest.fixture
def moment(serve: Serve, over: threading.Event) -> Iterator[LastMoment]:
    tired = Tired()
    tired.awake.set()
    with (
        serve(
            *(*REPLIES, text_reply("three"), [held(over), *text_reply("four")]),
            make_features=lambda *places: [*make_features(*places), tired],
        ) as served,
        served.page() as page,
    ):
        (served.project / "f").write_text(OLD)
        try:
            yield LastMoment(Talk(served, page), tired)
        finally:
            tired.awake.set()
            over.set()


UNDO = ("/changes/undo", {"what": "call", "number": 1})
UNDONE = NEW.replace("three\n", "line 3\n")


@pytest.mark.parametrize("is_stopped", [False, True])
def test_an_undo_in_the_last_moment_of_a_turn_waits_for_its_end(
    moment: LastMoment, is_stopped: bool
) -> None:
    moment.begin()
    asking = moment.ask(*UNDO)
    assert moment.talk.text() == NEW
    if is_stopped:
        assert moment.page.call("stop", session=moment.talk.session, cmd="s")["running"]
    moment.tired.awake.set()
    assert moment.answer(asking).status == 200
    assert moment.talk.text() == UNDONE


def test_a_redo_in_the_last_moment_of_a_turn_waits_for_its_end(moment: LastMoment) -> None:
    path, body = UNDO
    assert moment.talk.ask("POST", "/undo", body).status == 200
    moment.begin()
    asking = moment.ask(path, {**body, "again": True})
    moment.tired.awake.set()
    assert moment.answer(asking).status == 200
    assert moment.talk.text() == NEW


def test_a_command_in_the_last_moment_of_a_turn_waits_for_its_end(moment: LastMoment) -> None:
    moment.begin()
    asking = moment.ask("/command", {"line": "/undo call 1"})
    moment.tired.awake.set()
    answer = moment.answer(asking)
    assert (answer.status, answer.json.get("done")) == (200, True)
    assert moment.talk.text() == UNDONE


def test_an_undo_right_after_a_command_waits_for_its_end(
    moment: LastMoment, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_answered, goes_on = threading.Event(), threading.Event()
    handle = WebTerminal.handle

    def ends_late(terminal: WebTerminal, *arguments: Any, **options: Any) -> None:
        handle(terminal, *arguments, **options)
        is_answered.set()
        assert goes_on.wait(TIMEOUT_SECONDS)

    monkeypatch.setattr(WebTerminal, "handle", ends_late)
    moment.page.call("send", session=moment.talk.session, cmd="u", text="/undo call 1")
    assert is_answered.wait(TIMEOUT_SECONDS)
    assert moment.talk.text() == UNDONE
    path, body = UNDO
    asking = moment.ask(path, {**body, "again": True})
    goes_on.set()
    assert moment.answer(asking).status == 200
    assert moment.talk.text() == NEW


def test_an_undo_does_not_wait_where_a_message_follows(
    moment: LastMoment, over: threading.Event
) -> None:
    moment.begin()
    moment.page.call("send", session=moment.talk.session, cmd="t4", text="go")
    answer = moment.answer(moment.ask(*UNDO))
    assert (answer.status, answer.json["code"]) == (409, "busy")
    moment.tired.awake.set()
    over.set()
    moment.page.wait_for("TurnStarted", turn=4)
    moment.page.wait_for("state", running=False)


def test_an_undo_that_waits_is_refused_once_a_message_is_next(moment: LastMoment) -> None:
    moment.begin()
    asking = moment.ask(*UNDO)
    moment.page.call("send", session=moment.talk.session, cmd="t4", text="go")
    moment.tired.awake.set()
    assert moment.answer(asking).json["code"] == "busy"
    assert moment.talk.text() == NEW


def test_an_undo_that_waits_does_not_hold_up_the_end_of_the_server(moment: LastMoment) -> None:
    moment.begin()
    asking = moment.ask(*UNDO)
    moment.runner.suspend()
    assert moment.answer(asking).json["code"] == "busy"
    assert moment.talk.text() == NEW
