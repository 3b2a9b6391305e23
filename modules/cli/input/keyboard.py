"""The keyboard while no prompt is open: nothing is echoed, and single keys can be read."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import FrameType
from typing import TYPE_CHECKING

from core.conversation.messages import MEMORY_MARKS, SHELL_ESCAPE
from modules.cli.input.typed_keys import TypedKeys
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.cli.input.typed_line import TypedLine

CTRL_C = "\x03"
CTRL_Z = "\x1a"
POLL_SECONDS = 0.1
PAUSE_SECONDS = 1.0
"""Seconds without a key after which nobody is in the middle of a word,"""
LONG_PAUSE_SECONDS = 3.0
"""and, for who has begun a line, not in the middle of that."""
BURST_SECONDS = 0.005
"""Nobody presses a second key so soon."""
MAX_BURST_BYTES = 4_000_000
"""Bytes of what counts as come at once; more is taken in piece by piece."""
PASTE_START, PASTE_END = b"\x1b[200~", b"\x1b[201~"
_BRACKETED_PASTE_ON, _BRACKETED_PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"


@contextmanager
def no_echo(descriptor: int, typed_ahead: TypedAhead) -> Iterator[None]:
    """Keep the terminal *descriptor* from echoing; what is typed waits for the next prompt.

    What was typed before, in line mode, where Enter cannot be told from Ctrl-J, is added to
    *typed_ahead*, each taken for Enter; so is a Ctrl-C for which there is neither a prompt nor a
    turn. Meanwhile the terminal says what is pasted, as it does at a prompt. For the main thread.
    Whom Ctrl-Z or the end of the program gives the terminal, has it as it was.
    """
    before = termios.tcgetattr(descriptor)
    modes = termios.tcgetattr(descriptor)
    # Without ICRNL the Enter key stays apart from Ctrl-J until the prompt reads it.
    modes[0] &= ~termios.ICRNL
    modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)  # the last takes Ctrl-O on BSD

    def release() -> None:
        _write(_BRACKETED_PASTE_OFF)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

    def acquire() -> None:
        if os.tcgetpgrp(descriptor) == os.getpgrp():
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
            _write(_BRACKETED_PASTE_ON)

    with _signals(typed_ahead, release, acquire):
        try:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
            _write(_BRACKETED_PASTE_ON)
            typed_ahead.add(_read_available(descriptor).replace(b"\n", b"\r"))
            yield
        finally:
            release()


@contextmanager
def _signals(
    typed_ahead: TypedAhead, release: Callable[[], None], acquire: Callable[[], None]
) -> Iterator[None]:
    """Have the terminal given back before a signal ends or suspends us, and taken when we go on.

    A Ctrl-C that *typed_ahead* keeps does neither.
    """

    def suspend(number: int, _frame: FrameType | None) -> None:
        with typed_ahead.leave_screen():
            release()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)  # here the shell goes on, until it lets us
            signal.signal(number, suspend)
            acquire()

    def leave(number: int, _frame: FrameType | None) -> None:
        release()
        signal.signal(number, previous[number])
        signal.raise_signal(number)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if not typed_ahead.keep_interrupt():
            leave(number, frame)

    handlers: dict[int, Callable[[int, FrameType | None], object]] = {
        signal.SIGTSTP: suspend,
        signal.SIGTERM: leave,
        signal.SIGINT: interrupt,
    }
    # Who ignores Ctrl-Z has no shell to come back from.
    previous = {n: handler for n in handlers if (handler := signal.getsignal(n)) != signal.SIG_IGN}
    try:
        for number in previous:
            signal.signal(number, handlers[number])
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _write(sequence: str) -> None:
    """Send *sequence* to the terminal; one that went away needs it no more.

    Not through the buffer of standard output: a signal may come while that is written.
    """
    with suppress(OSError):
        os.write(sys.stdout.fileno(), sequence.encode())


def _read_available(descriptor: int) -> bytes:
    """Return what can be read from *descriptor* right now."""
    answer = fcntl.ioctl(descriptor, termios.FIONREAD, struct.pack("i", 0))
    (length,) = struct.unpack("i", answer)
    return os.read(descriptor, length) if length else b""


def read_burst(descriptor: int) -> bytes:
    """Return what came at once: all that follows its first bytes without a pause; b"" at the end.

    A key that is pressed comes by itself, a paste in pieces of whatever size.
    """
    typed = more = os.read(descriptor, 4096)
    while more and 1 < len(typed) < MAX_BURST_BYTES:
        if not select.select([descriptor], [], [], BURST_SECONDS)[0]:
            break
        more = os.read(descriptor, 4096)
        typed += more
    return typed


def as_paste(text: bytes) -> bytes:
    """Return what a terminal sends for *text* that is pasted: put into the line and not sent."""
    return PASTE_START + text.replace(b"\x1b", b"") + PASTE_END


def as_typed(text: str) -> bytes:
    """Return what puts *text*, which the person typed before, into a line as theirs again."""
    if text.startswith((SHELL_ESCAPE, *MEMORY_MARKS)):
        return text[0].encode() + as_paste(text[1:].encode())
    return as_paste(text.encode())


class TypedAhead:
    """The lines that the person entered while no prompt was open, and a draft.

    Somebody who types the next message while a question comes up must not answer that with it.
    *on_entered* is called with the lines that were just entered, in the thread that heard the keys.
    """

    def __init__(self) -> None:
        self.on_entered: Callable[[Sequence[str]], object] = lambda _entered: None
        self.on_escape: Callable[[], object] = lambda: None
        """Called, in that thread as well, when the key that stops was pressed."""
        self.leave_screen: Callable[[], AbstractContextManager[None]] = nullcontext
        """Leaves the end of the screen to the shell while we are suspended."""
        self.show_all: Callable[[], object] = lambda: None
        """Shows a program whole that was cut: there is a key for that, at any time."""
        self.keys: Callable[[], TypedKeys] = TypedKeys
        """Returns the keys that count at any time, as the settings have them now."""
        self.is_erased = False
        """Whether the last key took back the last letter of the draft."""
        self._lines: list[str] = []
        self._line: TypedLine | None = None
        self._last_key_at = float("-inf")
        self._lock = threading.Lock()
        self._was_interrupted: bool | None = None  # None: nobody asks for it yet

    @property
    def draft(self) -> str:
        """The text that was typed and not entered."""
        return self._line.draft if self._line else ""

    @property
    def last_key_at(self) -> float:
        """When the last key was heard, on the monotonic clock."""
        return self._last_key_at

    @property
    def entries(self) -> list[str]:
        """All that is kept, the draft last if there is one."""
        return [*self._lines, *filter(None, [self.draft])]

    def read(self, descriptor: int, seconds: float, may_read: Callable[[], bool]) -> bytes | None:
        """Keep what is typed within *seconds* and return it; None when the terminal went away.

        Nothing is read once *may_read* says no.
        """
        with self._lock:
            if not may_read():
                return b""
            has_typed = bool(select.select([descriptor], [], [], seconds)[0])
            is_escaped = not has_typed and self._line is not None and self._line.take_stop()
            if has_typed:
                typed = read_burst(descriptor)
                entered = self._feed(typed, came_at_once=True)
        if is_escaped:
            self.on_escape()
        if not has_typed:
            return b""
        self._notify(entered)
        return typed or None

    def add(self, typed: bytes, *, came_at_once: bool = False) -> None:
        """Keep *typed* as if it had been typed now, key by key unless it *came_at_once*."""
        if not typed:
            return
        with self._lock:
            entered = self._feed(typed, came_at_once=came_at_once)
        self._notify(entered)

    def forget_escape(self) -> None:
        """Take note that a key to stop so far was for what is over by now."""
        with self._lock:
            if self._line:
                self._line.forget_escape()

    def _notify(self, entered: Sequence[str]) -> None:
        """Have others do what the keys just heard ask for; not while the lock is held."""
        self.on_entered(entered)
        if self._line and self._line.take_show_all():
            self.show_all()

    def _feed(self, typed: bytes, *, came_at_once: bool) -> list[str]:
        from modules.cli.input.typed_line import (
            TypedLine,  # a start without a word typed is quicker
        )

        self._line = self._line or TypedLine(lambda: self.keys())
        self._last_key_at = time.monotonic()
        had_draft = bool(self.draft)
        entered = self._line.feed(typed, came_at_once=came_at_once)
        self.is_erased = had_draft and not (self.draft or entered)
        self._lines += entered
        return entered

    def keep_interrupt(self) -> bool:
        """Keep a Ctrl-C for `take_interrupt`; return False when nobody would hear of it.

        That is before anybody asked, and for a second one.
        """
        is_new = self._was_interrupted is False
        self._was_interrupted = self._was_interrupted or is_new
        return is_new

    def take_interrupt(self) -> bool:
        """Return whether a Ctrl-C is kept, and keep it no longer."""
        is_kept, self._was_interrupted = bool(self._was_interrupted), False
        return is_kept

    def discard(self, line: str) -> None:
        """Keep *line*, which was entered, no longer."""
        with self._lock:
            if line in self._lines:
                self._lines.remove(line)

    def return_to_draft(self, others: Sequence[str] = ()) -> bool:
        """Let the lines that were entered stand in the prompt unsent; return whether there are.

        Above them stand *others*, which wait elsewhere.
        """
        with self._lock:
            lines, self._lines = [*others, *self._lines], []
            if not lines:
                return False
            text = "\n".join(filter(None, [*lines, self._line.take_draft() if self._line else ""]))
            self._feed(as_paste(text.encode()), came_at_once=False)
            return True

    def wait_for_pause(self, descriptor: int, stop: Stop) -> None:
        """Keep what was typed; who is still typing is waited for until they pause.

        Who takes back all of their draft is not waited for.
        """
        is_typing = True
        while is_typing and not stop.is_set():
            pause = LONG_PAUSE_SECONDS if self.draft else PAUSE_SECONDS
            seconds_left = max(self._last_key_at + pause - time.monotonic(), 0.0)
            typed = self.read(descriptor, seconds_left, lambda: True)
            is_typing = bool(typed) and not self.is_erased

    def take_for_prompt(self) -> bytes:
        """Return what the next prompt begins with, as keys, and keep it no longer.

        That is one line that was entered, which the prompt sends; without any, the draft, and
        Ctrl-X with the key behind it if they were just pressed.
        """
        with self._lock:
            if self._lines:
                return as_typed(self._lines.pop(0)) + b"\r"
            if not self._line:
                return b""
            draft = as_typed(self._line.take_draft()) if self.draft else b""
            return draft + self._line.take_chord().encode()


def read_key(descriptor: int, stop: Stop) -> str | None:
    """Wait for a key, or for what is pasted, and return what it sends.

    None on *stop* or when the terminal went away. Ctrl-C and Ctrl-Z come as keys.
    """
    before = termios.tcgetattr(descriptor)
    modes = termios.tcgetattr(descriptor)
    modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
    try:
        while not stop.is_set():
            if select.select([descriptor], [], [], POLL_SECONDS)[0]:
                return read_burst(descriptor).decode(errors="replace") or None
        return None
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
