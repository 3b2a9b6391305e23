"""Thinking that a server leaves in the text, in a tag at its start."""

from __future__ import annotations

from enum import Enum

_BEGIN = "<think>"
_END = "</think>"


class _State(Enum):
    START = 0
    THINKING = 1
    GAP = 2
    TEXT = 3


class ThinkTag:
    """Parts a text that comes in pieces into the thought in the tag at its start, and the rest.

    Time is linear in the text, however it is cut up.
    """

    def __init__(self) -> None:
        self._state = _State.START
        self._pending = ""
        self._thinking: list[str] = []

    @property
    def is_done(self) -> bool:
        """Whether all that is to come is the rest."""
        return self._state is _State.TEXT

    def feed(self, text: str) -> tuple[str, str]:
        """Return what of the thought and what of the rest is known now."""
        if self._state is _State.TEXT:
            return "", text
        text, self._pending = self._pending + text, ""
        if self._state is _State.START:
            start = text.lstrip()
            if _BEGIN.startswith(start[: len(_BEGIN)]) and len(start) < len(_BEGIN):
                self._pending = text
                return "", ""
            if not start.startswith(_BEGIN):
                self._state = _State.TEXT
                return "", text
            self._state, text = _State.THINKING, start[len(_BEGIN) :]
        thought = ""
        if self._state is _State.THINKING:
            thought, text = self._split_thinking(text)
        return thought, self._skip_gap(text) if self._state is not _State.THINKING else ""

    def close(self, *, is_thought: bool) -> str:
        """Return the text that was held back.

        Where the tag has no end that is all of it, tag and all, unless it *is_thought* all the
        same: the reply was cut off in it, or there are calls beside it.
        """
        if self._state is _State.START:
            return self._pending
        if self._state is _State.THINKING and not is_thought:
            return _BEGIN + "".join(self._thinking) + self._pending
        return ""

    def _split_thinking(self, text: str) -> tuple[str, str]:
        """Return the thought in *text*, and what comes behind the end of its tag."""
        before, end, behind = text.partition(_END)
        if end:
            self._state = _State.GAP
            return before, behind
        overlap = next(n for n in range(len(_END) - 1, -1, -1) if text.endswith(_END[:n]))
        self._pending = text[len(text) - overlap :]
        thought = text[: len(text) - overlap]
        self._thinking.append(thought)
        return thought, ""

    def _skip_gap(self, text: str) -> str:
        """Return *text* without the blank lines between the tag and the answer."""
        text = text.lstrip()
        if text:
            self._state = _State.TEXT
        return text
