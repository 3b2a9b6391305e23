"""Signals that ask to end: the first one stops what runs in order, a second one leaves."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

TERMINATION_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, a request to end, and a terminal that went away."""
_END_BYTE = b"\0"  # the number of no signal


@contextmanager
def raising_keyboard_interrupt() -> Iterator[None]:
    """Let Ctrl-C raise `KeyboardInterrupt`, so that a question can put the terminal in order."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def stopping_on_signals(
    stop: Callable[[], object],
    names: Sequence[str] = TERMINATION_SIGNALS,
    *,
    on_signal: Callable[[int], object] = lambda _: None,
) -> Iterator[None]:
    """Call *stop* on the first of the signals *names*; at each further one `KeyboardInterrupt`.

    Before *stop*, *on_signal* gets the number of the signal. For the main thread. *stop* is called
    once, from another thread, and waited for at the end: what takes long has to be begun by it in a
    thread of its own.
    """
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]

    def on_first_signal(number: int) -> None:
        on_signal(number)
        stop()

    with _signal_listener(numbers, on_first_signal) as notify:
        is_stopping = False

        def handle(number: int, _frame: FrameType | None) -> None:
            nonlocal is_stopping
            if is_stopping:
                raise KeyboardInterrupt
            is_stopping = True
            notify(number)  # nobody else did while the signals were lent

        previous = {number: signal.signal(number, handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


@contextmanager
def _signal_listener(
    numbers: Sequence[int], on_first_signal: Callable[[int], object]
) -> Iterator[Callable[[int], object]]:
    """Call *on_first_signal* once, from a thread of its own, when one of the signals *numbers* has
    come.

    A handler would not do: it runs in the main thread alone, which sleeps on when the kernel gave
    the signal to another thread, and which may hold a lock that *on_first_signal* wants. What is
    yielded takes the number of a signal that came, for when it was not heard.
    """
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def listen() -> None:
        is_called = False
        while (received := os.read(read_end, 1)) != _END_BYTE:
            if received[0] in numbers and not is_called:
                is_called = True
                on_first_signal(received[0])

    listener = threading.Thread(target=listen, name="signals", daemon=True)
    listener.start()
    try:
        with _wakeup_fd(write_end):
            yield lambda number: os.write(write_end, bytes([number]))
    finally:
        os.write(write_end, _END_BYTE)
        listener.join()
        os.close(read_end)
        os.close(write_end)


@contextmanager
def _wakeup_fd(descriptor: int) -> Iterator[None]:
    """Have the number of each signal written to *descriptor*; -1: to none."""
    previous = signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)


def wakeup_fd_released() -> AbstractContextManager[None]:
    """Leave the signals to another event loop; afterwards `stopping_on_signals` gets them again."""
    return _wakeup_fd(-1)
