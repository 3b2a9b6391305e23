"""Lines of a terminal that nothing is drawn on twice: the plain mode, for screen readers.

The terminal itself echoes and edits what is typed; no cursor is moved and no key read alone.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from modules.translator import Translator
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import clean
from utils.text.fold import wrapped
from utils.waiting import Stop

POLL_SECONDS = 0.1
PROMPT = "› "


class PlainLines:
    """The lines that the person enters at the terminal *descriptor*, one after the other."""

    def __init__(self, descriptor: int, translator: Translator) -> None:
        self._descriptor = descriptor
        self._translator = translator
        self._entered: list[str] = []
        self._apart: list[str] = []
        self._is_at_prompt = False
        self._bytes = b""

    @contextmanager
    def keeping_interrupts(self, keep: Callable[[], bool]) -> Iterator[None]:
        """Have a Ctrl-C leave at the prompt only; else *keep* is asked to keep it for the turn.

        For the main thread.
        """

        def interrupt(_number: int, _frame: FrameType | None) -> None:
            if self._is_at_prompt or not keep():
                raise KeyboardInterrupt

        previous = signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)

    def messages(self, before: Callable[[], object]) -> Iterator[str]:
        """Yield what is entered, until the person leaves; *before* is called before each."""
        while True:
            before()
            self._write(PROMPT)
            self._is_at_prompt = True
            line = self.read()
            while line and line.endswith("\\"):
                line = f"{line[:-1]}\n{self.read() or ''}"
            self._is_at_prompt = False
            if line is None:
                return
            yield line

    def say(self, text: Text) -> None:
        """Write *text*, broken between words."""
        rows = wrapped(clean(self._translator.render(text)), shutil.get_terminal_size().columns - 1)
        self._write("".join(f"{row}\n" for row in rows))

    def ask(self, label: Text, stop: Stop) -> str | None:
        """Return the line that answers *label*; None on *stop* and where there will be none."""
        self._write(f"{clean(self._translator.render(label))} {PROMPT}")
        return self.read(stop.is_set)

    def read(self, is_stopped: Callable[[], bool] = lambda: False) -> str | None:
        """Return the next line; None once *is_stopped*, and where there will be none."""
        while not self._entered:
            if is_stopped():
                return None
            if select.select([self._descriptor], [], [], POLL_SECONDS)[0] and not self._take():
                return None
        return self._entered.pop(0)

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Give back, when this ends, what was `put_apart` meanwhile."""
        try:
            yield
        finally:
            self._entered, self._apart = [*self._apart, *self._entered], []

    def put_apart(self) -> None:
        """Keep for later what was entered already: it is no answer to what is asked now."""
        while select.select([self._descriptor], [], [], 0)[0] and self._take():
            pass
        self._apart += self._entered
        self._entered = []

    def _take(self) -> bool:
        """Take in what the terminal has; return whether it is still there."""
        piece = os.read(self._descriptor, 65_536)
        self._bytes += piece
        *lines, self._bytes = self._bytes.split(b"\n")
        self._entered += [line.decode(errors="replace") for line in lines]
        return bool(piece)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


class LineApprover:
    """The person who answers questions by *lines*: a letter and Enter, or words."""

    def __init__(self, lines: PlainLines, stop: Stop) -> None:
        self._lines = lines
        self._stop = stop
        self.has_draft = False

    def wait_until_idle(self) -> None:
        self._lines.put_apart()

    def read_key(self) -> str | None:
        while (line := self._lines.ask(phrase("Your answer"), self._stop)) == "":
            pass
        return line

    def keep_typed(self, typed: str) -> None:
        """Take *typed* for a slip: the question is asked again."""

    def ask_reason(self) -> str | None:
        reason = self._lines.ask(phrase("Why not? (Enter: no reason)"), self._stop)
        return None if reason is None and self._stop.is_set() else (reason or "").strip()

    def ask_answer(self, typed: str) -> str:
        return typed

    def edit(self, label: Phrase, text: str, *, takes_unchanged: bool = False) -> str | None:
        shown = phrase("{what} (Enter: {text})", what=label, text=text)
        line = self._lines.ask(shown, self._stop)
        return line or (text if takes_unchanged and line is not None else None)

    def stop(self) -> None:
        self._stop.set()

    def suspend(self) -> None:
        os.kill(0, signal.SIGTSTP)
