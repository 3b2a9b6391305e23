"""What was sent is on disk before that is said, and stays there until what came of it is, too."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import core.main_terminal
from core.conversation.messages import Record, StateRecord, User
from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer, run_server
from tests.scripted_model import text_reply
from utils.i18n import UserError, phrase

Serve = Callable[..., AbstractContextManager[RunningServer]]
Wanted = Callable[[Record], bool]
ROOT = Path(__file__).parents[4]

MOMENTS: dict[str, tuple[Wanted, bool]] = {
    "before its id is": (lambda r: r == StateRecord("sent", ["m1", "m2"]), False),
    "before its turn is": (lambda r: isinstance(r, User) and r.text == "second", False),
    "when its turn is": (lambda r: isinstance(r, User) and r.text == "second", True),
    "when another waits too": (
        lambda r: isinstance(r, StateRecord) and r.name == "queue" and r.value[1:] != [],
        True,
    ),
}
"""Up to which record of ours a process lives, and whether that one is still kept."""


def dying(folder: Path, moment: str) -> None:
    """Serve, take the messages m1 and m2, and die at the *moment* as by `kill -9`."""
    is_last, is_kept = MOMENTS[moment]
    record = core.main_terminal.MainTerminal.record

    has_begun, goes_on = threading.Event(), threading.Event()

    def to_the_end(self: core.main_terminal.MainTerminal, one: Record) -> None:
        if not is_last(one) or is_kept:
            record(self, one)
        if is_last(one):
            os._exit(9)
        if moment == "when another waits too" and isinstance(one, User) and one.text == "second":
            has_begun.set()
            goes_on.wait()

    setattr(core.main_terminal.MainTerminal, "record", to_the_end)  # noqa: B010 - for good
    with (
        run_server("threading", folder, text_reply("one"), text_reply("two")) as served,
        served.page() as page,
    ):
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="m1", text="first")
        page.wait_for("TurnFinished")
        page.wait_for("state", running=False)
        os.write(1, session.encode())
        page.call("send", session=session, cmd="m2", text="second")
        if moment == "when another waits too":
            assert has_begun.wait(TIMEOUT_SECONDS)
            page.call("send", session=session, cmd="m3", text="third")
        page.wait_for("never")


def killed(folder: Path, moment: str) -> str:
    """Let a process die at the *moment*; return its session."""
    code = f"from {__name__} import *; dying(Path({str(folder)!r}), {moment!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 9
    return done.stdout.strip()


@pytest.mark.parametrize("moment", ["before its id is", "before its turn is"])
def test_a_message_outlives_a_kill_and_waits_in_sight(
    serve: Serve, tmp_path: Path, moment: str
) -> None:
    session = killed(tmp_path, moment)
    with serve(text_reply("two"), text_reply("three")) as served, served.page() as page:
        state = page.attach(session)["state"]
        assert (state["queue"], state["paused"]) == ([{"id": "m2", "text": "second"}], True)
        page.call("send", session=session, cmd="m2", text="second")
        page.call("send", session=session, cmd="m3", text="third")
        assert [page.wait_for("TurnStarted")["text"] for _ in range(2)] == ["second", "third"]
        page.wait_for("state", running=False, queue=[])
    with serve() as served, served.page() as page:
        assert page.attach(session)["state"]["queue"] == []


def test_a_message_that_had_begun_when_it_was_killed_does_not_wait(
    serve: Serve, tmp_path: Path
) -> None:
    session = killed(tmp_path, "when its turn is")
    with serve(text_reply("three")) as served, served.page() as page:
        arrival = page.attach(session)
        said = [one["text"] for one in arrival["events"] if one["type"] == "TurnStarted"]
        assert (said, arrival["state"]["queue"]) == (["first", "second"], [])
        page.call("send", session=session, cmd="m2", text="second")
        page.call("send", session=session, cmd="m3", text="third")
        assert page.wait_for("TurnStarted")["text"] == "third"
        page.wait_for("state", running=False, queue=[])


def test_a_message_that_had_begun_when_another_came_does_not_wait(
    serve: Serve, tmp_path: Path
) -> None:
    session = killed(tmp_path, "when another waits too")
    with serve(text_reply("three")) as served, served.page() as page:
        arrival = page.attach(session)
        said = [one["text"] for one in arrival["events"] if one["type"] == "TurnStarted"]
        assert (said, arrival["state"]["queue"]) == (
            ["first", "second"],
            [{"id": "m3", "text": "third"}],
        )


def test_a_fork_has_nothing_of_what_was_sent_after_it(serve: Serve) -> None:
    with serve(text_reply("one"), text_reply("two")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        for number, text in enumerate(("first", "second")):
            page.call("send", session=session, cmd=f"m{number}", text=text)
            page.wait_for("TurnFinished")
            page.wait_for("state", running=False)
        fork = served.ask("POST", f"/api/sessions/{session}/fork", {"turn": 1}).json["id"]
        assert page.attach(fork)["state"]["queue"] == []


def test_what_cannot_be_kept_is_not_taken(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    record = core.main_terminal.MainTerminal.record
    full = [True]

    def fails(self: core.main_terminal.MainTerminal, one: Record) -> None:
        if full[0]:
            raise UserError(phrase("Stopped."))
        record(self, one)

    monkeypatch.setattr(core.main_terminal.MainTerminal, "record", fails)
    with serve(text_reply("one")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        assert not page.call("send", session=session, cmd="m1", text="first")["ok"]
        assert page.attach(session)["state"]["queue"] == []
        full.clear()
        full.append(False)
        assert page.call("send", session=session, cmd="m2", text="second")["ok"]
        assert page.wait_for("TurnStarted")["text"] == "second"
        page.wait_for("state", running=False)


def test_a_message_whose_turn_could_not_begin_waits_again(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = core.main_terminal.MainTerminal.record
    failures = iter([True])

    def fails(self: core.main_terminal.MainTerminal, one: Record) -> None:
        if isinstance(one, User) and next(failures, False):
            raise UserError(phrase("Stopped."))
        record(self, one)

    monkeypatch.setattr(core.main_terminal.MainTerminal, "record", fails)
    with serve(text_reply("one")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="m1", text="first")
        assert page.wait_for("TurnFinished")["why"] == "error"
        page.wait_for("state", running=False, paused=True, queue=[{"id": "m1", "text": "first"}])
        page.call("queue", session=session, cmd="q1", op="now", id="m1")
        assert page.wait_for("TurnStarted")["text"] == "first"
        page.wait_for("state", running=False, queue=[])


def test_a_message_comes_in_the_place_of_what_waits(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = core.main_terminal.MainTerminal.record
    failures = iter([True])

    def fails(self: core.main_terminal.MainTerminal, one: Record) -> None:
        if isinstance(one, User) and next(failures, False):
            raise UserError(phrase("Stopped."))
        record(self, one)

    monkeypatch.setattr(core.main_terminal.MainTerminal, "record", fails)
    with serve(text_reply("both"), text_reply("third")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        page.call("send", session=session, cmd="m1", text="first")
        page.wait_for("state", running=False, paused=True)
        page.call("send", session=session, cmd="m2", text="first and second", instead=["m1"])
        page.call("send", session=session, cmd="m3", text="third")
        started = [page.wait_for("TurnStarted")["text"] for _ in range(2)]
        assert started == ["first and second", "third"]
        page.wait_for("state", running=False, queue=[])


def test_a_program_is_told_that_its_turn_could_not_begin(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = core.main_terminal.MainTerminal.record

    def fails(self: core.main_terminal.MainTerminal, one: Record) -> None:
        if isinstance(one, User):
            raise UserError(phrase("Stopped."))
        record(self, one)

    monkeypatch.setattr(core.main_terminal.MainTerminal, "record", fails)
    with serve() as served:
        path = f"/api/sessions/{served.new_session()}/messages"
        told = served.ask("POST", path, {"text": "first", "cmd": "m1"}).body.decode()
    assert told.count("data:") == 1
    assert '"why":"error"' in told.replace(" ", "")
