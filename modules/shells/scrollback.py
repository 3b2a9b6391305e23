"""The newest output of a shell, with the modes of the terminal that older output set."""

from __future__ import annotations

import re

KEPT_BYTES = 256 * 1024
"""Bytes of the newest output that are kept for a page that comes later."""
_LONGEST_LINE = (
    4 * 1024
)  # bytes in which a line must end for the kept output to begin with a whole one
_PRIVATE_MODE = re.compile(rb"\x1b\[\?([0-9;]{1,60})([hl])")
_MOST_MODES = 100  # a terminal knows some forty


class Scrollback:
    """Keeps the newest `KEPT_BYTES` of what it is given: an `OutputSink`, for one thread at a time.

    Nothing of it is ever on a disk.
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self._modes: dict[bytes, bytes] = {}
        self.total = 0
        """Bytes that came so far, those that are dropped included."""

    @property
    def oldest(self) -> int:
        """Place of the oldest byte that is kept, counted from the first that ever came."""
        return self.total - len(self._data)

    def add(self, data: bytes, *, final: bool = False) -> str:  # noqa: ARG002 - all is kept at once
        """Take *data*; nothing is passed on."""
        self._data += data
        self.total += len(data)
        if (excess := len(self._data) - KEPT_BYTES) > 0:
            line_end = self._data.find(b"\n", excess, excess + _LONGEST_LINE)
            self._drop(excess if line_end < 0 else line_end + 1)
        return ""

    def _drop(self, count: int) -> None:
        """Forget the oldest *count* bytes, but for the modes that they switched."""
        for numbers, switch in _PRIVATE_MODE.findall(self._data[:count]):
            for number in numbers.split(b";"):
                self._modes.pop(number, None)  # the last one to be switched comes last
                self._modes[number] = switch
        while len(self._modes) > _MOST_MODES:
            del self._modes[next(iter(self._modes))]
        del self._data[:count]

    def read(self, start: int, most: int) -> bytes:
        """Return up to *most* of the bytes from *start* on, which is not before `oldest`."""
        place = start - self.oldest
        return bytes(self._data[place : place + most])

    def modes(self) -> bytes:
        """Return what brings a new terminal to the modes in which the kept output begins."""
        return b"".join(b"\x1b[?%b%b" % mode for mode in self._modes.items())

    def head_and_tail(self) -> tuple[str, str, int]:
        """Return the head, the tail and the bytes left out between them; see `OutputSink`."""
        return self._data.decode(errors="replace"), "", self.oldest

    def middle(self) -> str:
        return ""
