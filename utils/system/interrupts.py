"""Signals that ask to end: the first one stops what runs in order, a second one leaves."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, a request to end, and a terminal that went away."""
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
def stopping(
    stop: Callable[[], object],
    names: Sequence[str] = ENDING,
    *,
    note: Callable[[int], object] = lambda _: None,
) -> Iterator[None]:
    """Call *stop* on the first of the signals *names*; at each further one `KeyboardInterrupt`.

    Before *stop*, *note* gets the number of the signal. For the main thread. *stop* is called once,
    from another thread, and waited for at the end: what takes long has to be begun by it in a
    thread of its own.
    """
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]

    def hear(number: int) -> None:
        note(number)
        stop()

    with _hearing(numbers, hear) as tell:
        asked = False

        def handle(number: int, _frame: FrameType | None) -> None:
            nonlocal asked
            if asked:
                raise KeyboardInterrupt
            asked = True
            tell(number)  # nobody else did while the signals were lent

        before = {number: signal.signal(number, handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _hearing(
    numbers: Sequence[int], hear: Callable[[int], object]
) -> Iterator[Callable[[int], object]]:
    """Call *hear* once, from a thread of its own, when one of the signals *numbers* has come.

    A handler would not do: it runs in the main thread alone, which sleeps on when the kernel gave
    the signal to another thread, and which may hold a lock that *hear* wants. What is yielded takes
    the number of a signal that came, for when it was not heard.
    """
    near, far = os.pipe()
    os.set_blocking(far, False)

    def listen() -> None:
        is_heard = False
        while (heard := os.read(near, 1)) != _OVER:
            if heard[0] in numbers and not is_heard:
                is_heard = True
                hear(heard[0])

    listener = threading.Thread(target=listen, name="signals", daemon=True)
    listener.start()
    try:
        with _telling(far):
            yield lambda number: os.write(far, bytes([number]))
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
