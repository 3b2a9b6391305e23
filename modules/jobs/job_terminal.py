"""The terminal of a job: its screen brought up to what was written, and keys for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from modules.jobs.keys import typed
from modules.jobs.terminal_screen import TerminalScreen
from modules.sandbox.run.ring_output import RingOutput
from modules.sandbox.types import TERMINAL_COLUMNS, TERMINAL_LINES

_MAX_BEHIND = 64 * 1024  # bytes that are drawn at a time; of more, the newest half
_MAX_SCROLLED = 5_000  # lines that wait to be taken
_LEFT_OUT = "[… more was written than can be shown …]"


class JobTerminal:
    """Draws what comes to *output*; threads may share it. *answer* is for the program.

    It draws when somebody looks, or calls `update`, so nothing is done for what nobody sees.
    """

    def __init__(self, output: RingOutput, answer: Callable[[bytes], None]) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._screen = TerminalScreen(TERMINAL_COLUMNS, TERMINAL_LINES, answer)
        self._drawn = 0  # bytes of the output
        self._scrolled: list[str] = []  # since they were last taken
        self._before_input = ""

    def update(self) -> None:
        """Draw what was written since it was last drawn."""
        with self._lock:
            self._update()

    def _update(self) -> None:
        data, dropped = self._output.read(self._drawn)
        self._drawn += dropped + len(data)
        if dropped or len(data) > _MAX_BEHIND:
            self._screen.skip()
            self._scrolled = [_LEFT_OUT]
            data = data[-_MAX_BEHIND // 2 :]
        self._screen.feed(data)
        if lines := self._screen.take_scrolled():
            self._scrolled = [*self._scrolled, *lines][-_MAX_SCROLLED:]

    def text(self) -> str:
        """Return the screen."""
        with self._lock:
            self._update()
            return self._screen.text()

    def take_text(self) -> str:
        """Return the lines that went out at the top since this was last asked, and the screen."""
        with self._lock:
            self._update()
            scrolled, self._scrolled = self._scrolled, []
            return "\n".join([*scrolled, self._screen.text()])

    def shows_newly(self, text: str) -> bool:
        """Return whether *text* is there, more often than when something was last typed."""
        with self._lock:
            self._update()
            shown = "\n".join([*self._scrolled, self._screen.text()])
            return shown.count(text) > self._before_input.count(text)

    def place_for_model(self) -> str:
        """Say where the cursor is, and what is drawn in reverse."""
        with self._lock:
            line, column = self._screen.cursor
            highlighted = self._screen.highlighted()
        chosen = f", highlighted: {' | '.join(map(repr, highlighted))}" if highlighted else ""
        return f"screen {TERMINAL_COLUMNS}x{TERMINAL_LINES}, cursor {column},{line}{chosen}"

    def keys(self, text: str) -> bytes:
        """Return what is sent when *text* is typed now."""
        with self._lock:
            self._update()
            self._before_input = "\n".join([*self._scrolled, self._screen.text()])
            return typed(text, has_application_keys=self._screen.has_application_keys)
