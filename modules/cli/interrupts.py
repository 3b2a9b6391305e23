"""Signals during a task: the first one stops the task, a second one leaves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from utils.waiting import Stop

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def raising() -> Iterator[None]:
    """Let Ctrl-C raise `KeyboardInterrupt`, so that a question can put the terminal in order."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
