"""Output of a program made harmless while it comes, for a terminal that is not ours."""

from __future__ import annotations

from utils.text.clean import clean

_NEW_LINE = "\r\x1b[K"
"""Begins the line of the cursor anew."""
_STRINGS = "]PX^_"
"""Behind an escape: begins what has an end of its own, as a title."""
_MAX_SEQUENCE = 64
_MAX_LINE = 4_000
"""Characters of a line that may still be changed by what comes."""


class LiveText:
    """Gives what a terminal is to be sent of an output, of which nothing can drive it."""

    def __init__(self) -> None:
        self._raw = ""
        self._shown = ""

    def add(self, text: str) -> str:
        """Return what to send of *text*; an unfinished line is drawn anew where it changed."""
        *lines, self._raw = (self._raw + text).split("\n")
        sent = ""
        for line in lines:
            sent += self._line(clean(line)) + "\n"
            self._shown = ""
        sent += self._line(clean(_without_unfinished(self._raw)))
        if len(self._raw) > _MAX_LINE:
            self._raw = self._shown = ""
        return sent

    def _line(self, line: str) -> str:
        before, self._shown = self._shown, line
        return line.removeprefix(before) if line.startswith(before) else f"{_NEW_LINE}{line}"


def _without_unfinished(line: str) -> str:
    """Return *line* without an escape sequence at its end that may go on."""
    start = line.rfind("\x1b")
    tail = line[start:]
    if start < 0 or len(tail) > _MAX_SEQUENCE:
        return line
    kind = tail[1:2]
    is_unfinished = (
        not kind
        or (kind == "[" and clean(tail) == tail[1:])
        or (kind in _STRINGS and clean(tail) == tail[2:])
    )
    return line[:start] if is_unfinished else line
