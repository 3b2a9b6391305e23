"""The keyboard while no prompt is open: nothing is echoed, and single keys can be read."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from utils.waiting import Stop

CTRL_C = "\x03"
CTRL_Z = "\x1a"
ESCAPE = "\x1b"
POLL_SECONDS = 0.1
PAUSE_SECONDS = 1.0
"""Who has pressed no key for so long is not in the middle of a word,"""
LONG_PAUSE_SECONDS = 3.0
"""and who has begun a line, for so long, not in the middle of that."""


@contextmanager
def quiet(descriptor: int, ahead: TypedAhead) -> Iterator[None]:
    """Keep the terminal *descriptor* from echoing; what is typed waits for the next prompt.

    What was typed before, in line mode, where Enter cannot be told from Ctrl-J, is added to
    *ahead*, each taken for Enter; so is a Ctrl-C for which there is neither a prompt nor a turn.
    For the main thread. Whom Ctrl-Z or the end of the program gives the terminal, has it as it was.
    """
    before = termios.tcgetattr(descriptor)
    modes = termios.tcgetattr(descriptor)
    # Without ICRNL the Enter key stays apart from Ctrl-J until the prompt reads it.
    modes[0] &= ~termios.ICRNL
    modes[3] &= ~(termios.ECHO | termios.ICANON)

    def give_back() -> None:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

    def take() -> None:
        if os.tcgetpgrp(descriptor) == os.getpgrp():
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)

    with _signals(ahead, give_back, take):
        try:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
            ahead.add(_waiting(descriptor).replace(b"\n", b"\r"))
            yield
        finally:
            give_back()


@contextmanager
def _signals(
    ahead: TypedAhead, give_back: Callable[[], None], take: Callable[[], None]
) -> Iterator[None]:
    """Have the terminal given back before a signal ends or suspends us, and taken when we go on.

    A Ctrl-C that *ahead* keeps does neither.
    """

    def suspend(number: int, _frame: FrameType | None) -> None:
        give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # here the shell goes on, until it lets us
        signal.signal(number, suspend)
        take()

    def leave(number: int, _frame: FrameType | None) -> None:
        give_back()
        signal.signal(number, old[number])
        signal.raise_signal(number)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if not ahead.interrupt():
            leave(number, frame)

    handlers: dict[int, Callable[[int, FrameType | None], object]] = {
        signal.SIGTSTP: suspend,
        signal.SIGTERM: leave,
        signal.SIGINT: interrupt,
    }
    # Who ignores Ctrl-Z has no shell to come back from.
    old = {n: was for n in handlers if (was := signal.getsignal(n)) != signal.SIG_IGN}
    try:
        for number in old:
            signal.signal(number, handlers[number])
        yield
    finally:
        for number, was in old.items():
            signal.signal(number, was)


def _waiting(descriptor: int) -> bytes:
    """Return what can be read from *descriptor* right now."""
    answer = fcntl.ioctl(descriptor, termios.FIONREAD, struct.pack("i", 0))
    (length,) = struct.unpack("i", answer)
    return os.read(descriptor, length) if length else b""


def pasted(text: bytes) -> bytes:
    """Return what a terminal sends for *text* that is pasted: put into the line and not sent."""
    return b"\x1b[200~" + text + b"\x1b[201~"


class TypedAhead:
    """What the person typed before anything was asked, kept for the next prompt.

    Somebody who types the next message while a question comes up must not answer that with it.
    *heard* is called with whatever comes, in the thread that heard it.
    """

    def __init__(self) -> None:
        self.heard: Callable[[bytes], object] = lambda _typed: None
        self._typed = b""
        self._heard_at = float("-inf")
        self._lock = threading.Lock()
        self._was_interrupted: bool | None = None  # None: nobody asks for it yet

    def hear(self, descriptor: int, seconds: float, may_read: Callable[[], bool]) -> bytes | None:
        """Keep what is typed within *seconds* and return it; None when the terminal went away.

        Nothing is read once *may_read* says no.
        """
        with self._lock:
            if not may_read() or not select.select([descriptor], [], [], seconds)[0]:
                return b""
            typed = os.read(descriptor, 4096)
            self._heard_at = time.monotonic()
            self._typed += typed
        self.heard(typed)
        return typed or None

    def add(self, typed: bytes) -> None:
        """Keep *typed* as if it had been typed now."""
        if not typed:
            return
        with self._lock:
            self._heard_at = time.monotonic()
            self._typed += typed
        self.heard(typed)

    def interrupt(self) -> bool:
        """Keep a Ctrl-C for `was_interrupted`; return False when nobody would hear of it.

        That is before anybody asked, and for a second one.
        """
        is_new = self._was_interrupted is False
        self._was_interrupted = self._was_interrupted or is_new
        return is_new

    def was_interrupted(self) -> bool:
        """Return whether a Ctrl-C is kept, and keep it no longer."""
        was, self._was_interrupted = bool(self._was_interrupted), False
        return was

    def drop(self, typed: bytes) -> None:
        """Keep *typed* no longer, if that is the end of what is kept."""
        self._typed = self._typed.removesuffix(typed)

    def hold(self) -> bool:
        """Let the lines that were entered stand in the prompt unsent; return whether there are."""
        with self._lock:
            lines = self._typed.replace(b"\r", b"\n").rstrip(b"\n")
            if lines in (b"", self._typed):
                return False
            self._typed = pasted(lines)
            return True

    def collect(self, descriptor: int, stop: Stop) -> None:
        """Keep what was typed; who is still typing is waited for until they pause."""
        is_typing = True
        while is_typing and not stop.is_set():
            is_begun = not self._typed.endswith((b"\r", b"\n"))
            pause = LONG_PAUSE_SECONDS if self._typed and is_begun else PAUSE_SECONDS
            patience = max(self._heard_at + pause - time.monotonic(), 0.0)
            is_typing = bool(self.hear(descriptor, patience, lambda: True))

    def take(self) -> bytes:
        """Return what is kept, and keep it no longer."""
        typed, self._typed = self._typed, b""
        return typed


def read_key(descriptor: int, stop: Stop) -> str | None:
    """Wait for a key and return what it sends; None on *stop* or when the terminal went away.

    Ctrl-C and Ctrl-Z come as keys.
    """
    before = termios.tcgetattr(descriptor)
    modes = termios.tcgetattr(descriptor)
    modes[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
    termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
    try:
        while not stop.is_set():
            if select.select([descriptor], [], [], POLL_SECONDS)[0]:
                return os.read(descriptor, 256).decode(errors="replace") or None
        return None
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
