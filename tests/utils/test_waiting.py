"""What takes too long is told so, by one thread for all of it."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from queue import SimpleQueue

from utils.waiting import EitherStop, Stop, Timeout


def watching() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "timeout"}


def test_what_takes_too_long_is_called_once_and_what_ends_in_time_never() -> None:
    called: SimpleQueue[str] = SimpleQueue()
    timeout = Timeout(0.5)
    with timeout.watching(lambda: called.put("long")):
        with timeout.watching(lambda: called.put("short")):
            pass
        assert called.get(timeout=20) == "long"
    with timeout.watching(lambda: called.put("again")):
        assert called.get(timeout=20) == "again"
    assert called.empty()


def test_all_that_is_timed_shares_one_thread_which_ends_with_it() -> None:
    before = watching()
    timeout = Timeout(0.5)
    with ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(timeout.watching(lambda: None))
        mine = watching() - before
        assert len(mine) == 1
    for thread in mine:
        thread.join(timeout=20)
        assert not thread.is_alive()


def test_a_wait_for_either_of_two_ends_with_each() -> None:
    first, second = Stop(), Stop()
    either = EitherStop(first, second)
    assert not either.wait(0)
    second.set()
    assert either.wait(20)
    second.clear()
    either.set()
    assert first.is_set()
    assert either.wait(20)
