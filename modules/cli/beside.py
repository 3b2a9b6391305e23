"""What is typed while a turn runs: commands that need not wait are run, the rest is kept."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from modules.cli.keyboard import TypedAhead

ENTER = b"\r"
SLICE = 0.05
"""Seconds for which the keyboard is listened to before somebody else may have it."""
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)?", re.DOTALL)


class Beside:
    """Listens to the terminal *descriptor*; whatever is not run stays in *ahead*.

    *may_listen* says whether nobody else wants the keyboard: else that one hears for us. Of each
    line that is entered meanwhile and *is_wanted*, *run* is called from a thread of ours, and
    *keep* of every other one; *show* gets what is being typed.
    """

    def __init__(
        self,
        descriptor: int,
        ahead: TypedAhead,
        *,
        may_listen: Callable[[], bool],
        is_wanted: Callable[[str], bool],
        run: Callable[[str], object],
        show: Callable[[str], object],
        keep: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._descriptor = descriptor
        self._ahead = ahead
        self._may_listen = may_listen
        self._is_wanted = is_wanted
        self._run = run
        self._show = show
        self._keep = keep
        self._line = b""
        self._kept: list[str] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listen until this ends."""
        over = threading.Event()
        thread = threading.Thread(target=self._listen, args=(over,), name="beside", daemon=True)
        before, self._ahead.heard = self._ahead.heard, self._heard
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._ahead.heard = before
            self._show("")

    def _listen(self, over: threading.Event) -> None:
        while not over.is_set():
            typed = self._ahead.hear(self._descriptor, SLICE, self._may_listen)
            if typed is None:  # the terminal went away
                return
            if not typed and not self._may_listen():
                over.wait(SLICE)

    def _heard(self, typed: bytes) -> None:
        for byte in typed:
            self._take(bytes([byte]))
        if typed:
            self._show("\n".join([*self._kept, shown(self._line)]))

    def _take(self, byte: bytes) -> None:
        self._line += byte
        if byte != ENTER:
            return
        line, self._line = self._line, b""
        text = shown(line).strip()
        if self._may_listen() and self._is_wanted(text):
            self._ahead.drop(line)
            self._show("")
            self._run(text)
        else:
            self._kept.append(text)
            self._keep(text)


def shown(typed: bytes) -> str:
    """Return the text that the keys *typed* make, as a simple line editor would."""
    text: list[str] = []
    for char in _SEQUENCE.sub("", typed.decode("utf-8", "ignore")):
        match char:
            case "\x7f" | "\x08":
                del text[-1:]
            case "\x15" | "\x03":
                text.clear()
            case _ if char.isprintable() or char == "\n":
                text.append(char)
    return "".join(text)
