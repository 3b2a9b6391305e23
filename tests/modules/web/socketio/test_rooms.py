"""Pages that come, go and follow sessions at the very same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import pytest
from bidict import bidict
from socketio import base_manager

from tests.modules.web.serving import TIMEOUT_SECONDS, Page, RunningServer
from tests.scripted_model import text_reply

Serve = Callable[..., AbstractContextManager[RunningServer]]


@contextmanager
def held_open(monkeypatch: pytest.MonkeyPatch, begin: Callable[[], object]) -> Iterator[None]:
    """Let *begin*, in a thread, stay at the making of a room while something else is done.

    It goes on when that is over, or after a while if that waits for it.
    """
    has_begun, goes_on = threading.Event(), threading.Event()

    class Room(bidict):  # type: ignore[type-arg]
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            if not has_begun.is_set():
                has_begun.set()
                goes_on.wait(1)

    with monkeypatch.context() as slow:
        slow.setattr(base_manager, "bidict", Room)
        thread = threading.Thread(target=begin)
        thread.start()
        assert has_begun.wait(TIMEOUT_SECONDS)
        yield
        goes_on.set()
        thread.join(TIMEOUT_SECONDS)


def test_pages_that_come_at_once_are_all_heard(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve() as served:
        one, other = Page(served), Page(served)
        with held_open(monkeypatch, one.connect):
            other.connect()
        session = served.new_session()
        for page in (one, other):
            assert page.attach(session)["mode"] == "snapshot"
            page.disconnect()


def test_pages_that_follow_a_session_at_once_all_hear_of_it(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(text_reply("hello")) as served, served.page() as one, served.page() as other:
        session = served.new_session()
        with held_open(monkeypatch, partial(one.attach, session)):
            other.attach(session)
        one.call("send", session=session, cmd="c1", text="hi")
        for page in (one, other):
            assert page.wait_for("TextDelta")["text"] == "hello"
        one.wait_for("state", running=False)
