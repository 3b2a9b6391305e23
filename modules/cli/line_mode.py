"""What was typed while the terminal was still in line mode, before any prompt was there."""

from __future__ import annotations

import fcntl
import struct
import termios
from collections.abc import Iterable, Iterator

from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

_BRACKETS = len("\x1b[200~" + "\x1b[201~")


class LineMode:
    """Tells Enter from Ctrl-J in what waited when line mode ended: there both are a newline."""

    def __init__(self) -> None:
        self._bytes: int | None = None

    def end(self, descriptor: int) -> None:
        """Take note, the first time, of how much waits at the terminal *descriptor*."""
        if self._bytes is None:
            answer = fcntl.ioctl(descriptor, termios.FIONREAD, struct.pack("i", 0))
            self._bytes = struct.unpack("i", answer)[0]

    def entered(self, keys: Iterable[KeyPress]) -> Iterator[KeyPress]:
        """Yield *keys*, the next that are read, with Enter where it was pressed in line mode."""
        for press in keys:
            was_then = bool(self._bytes)
            if self._bytes:
                brackets = _BRACKETS if press.key == Keys.BracketedPaste else 0
                self._bytes = max(0, self._bytes - len(press.data.encode()) - brackets)
            is_enter = was_then and press.key == Keys.ControlJ
            yield KeyPress(Keys.ControlM, "\r") if is_enter else press
