"""Signals during a task: the first one stops the task, a second one leaves."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

from utils.waiting import Stop

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_OVER = b"\0"  # the number of no signal


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

    For the main thread.
    """
    asked = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    with _hearing(numbers, stop.set):
        before = {number: signal.signal(number, handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _hearing(numbers: Sequence[int], hear: Callable[[], None]) -> Iterator[None]:
    """Call *hear*, from a thread of its own, when one of the signals *numbers* has come.

    A handler would not do: it runs in the main thread alone, which sleeps on when the kernel gave
    the signal to another thread, and which may hold a lock that *hear* wants.
    """
    near, far = os.pipe()
    os.set_blocking(far, False)

    def listen() -> None:
        while (heard := os.read(near, 1)) != _OVER:
            if heard[0] in numbers:
                hear()

    listener = threading.Thread(target=listen, name="signals", daemon=True)
    listener.start()
    try:
        with _telling(far):
            yield
    finally:
        os.write(far, _OVER)
        listener.join()
        os.close(near)
        os.close(far)


@contextmanager
def _telling(descriptor: int) -> Iterator[None]:
    """Let the number of each signal be written to *descriptor*; -1: to none."""
    before = signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)


def lent() -> AbstractContextManager[None]:
    """Leave the signals to an event loop of somebody else; afterwards `stopping` hears again."""
    return _telling(-1)
