"""Thinking that a server leaves in the text, in a tag at its start."""

from __future__ import annotations

from enum import Enum

_BEGIN = "<think>"
_END = "</think>"


class _Where(Enum):
    START = 0
    THOUGHT = 1
    GAP = 2
    TEXT = 3


class ThinkTag:
    """Parts a text that comes in pieces into the thought in the tag at its start, and the rest.

    Time is linear in the text, however it is cut up.
    """

    def __init__(self) -> None:
        self._where = _Where.START
        self._waiting = ""
        self._thought: list[str] = []

    @property
    def is_over(self) -> bool:
        """Whether all that is to come is the rest."""
        return self._where is _Where.TEXT

    def feed(self, text: str) -> tuple[str, str]:
        """Return what of the thought and what of the rest is known now."""
        if self._where is _Where.TEXT:
            return "", text
        text, self._waiting = self._waiting + text, ""
        if self._where is _Where.START:
            start = text.lstrip()
            if _BEGIN.startswith(start[: len(_BEGIN)]) and len(start) < len(_BEGIN):
                self._waiting = text
                return "", ""
            if not start.startswith(_BEGIN):
                self._where = _Where.TEXT
                return "", text
            self._where, text = _Where.THOUGHT, start[len(_BEGIN) :]
        thought = ""
        if self._where is _Where.THOUGHT:
            thought, text = self._in_thought(text)
        return thought, self._after(text) if self._where is not _Where.THOUGHT else ""

    def close(self, *, is_thought: bool) -> str:
        """Return the text that was held back.

        Where the tag has no end that is all of it, tag and all, unless it *is_thought* all the
        same: the reply was cut off in it, or there are calls beside it.
        """
        if self._where is _Where.START:
            return self._waiting
        if self._where is _Where.THOUGHT and not is_thought:
            return _BEGIN + "".join(self._thought) + self._waiting
        return ""

    def _in_thought(self, text: str) -> tuple[str, str]:
        """Return the thought in *text*, and what comes behind the end of its tag."""
        before, end, behind = text.partition(_END)
        if end:
            self._where = _Where.GAP
            return before, behind
        held = next(n for n in range(len(_END) - 1, -1, -1) if text.endswith(_END[:n]))
        self._waiting = text[len(text) - held :]
        thought = text[: len(text) - held]
        self._thought.append(thought)
        return thought, ""

    def _after(self, text: str) -> str:
        """Return *text* without the blank lines between the tag and the answer."""
        text = text.lstrip()
        if text:
            self._where = _Where.TEXT
        return text
