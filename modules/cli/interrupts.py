"""Signals during a task: the first one stops the task, a second one leaves."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from utils.waiting import Stop

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def leave_at_once() -> None:
    """Let Ctrl-C end the process, until `stopping` takes over: nothing is under way yet.

    A `KeyboardInterrupt` may strike inside the import system, which then drops it and keeps its
    lock: the thread that imports the SDK would wait for ever, and the task for it.
    """
    signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(130))


@contextmanager
def stopping(stop: Stop) -> Iterator[None]:
    """Set *stop* on Ctrl-C and its kin; the second time raise `KeyboardInterrupt`.

    For the main thread. A handler runs between two steps of whatever that thread does, which may
    hold a lock that `Stop.set` wants: so another thread sets it.
    """
    asked = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        threading.Thread(target=stop.set, name="stop").start()

    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
