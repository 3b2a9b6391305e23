"""Noticing a reply that says the same again and again without end, as weak models do."""

from __future__ import annotations

TEXT_CHARACTERS = 8_000
"""More of the same than anybody asks for: two thousand tokens."""
ARGUMENT_CHARACTERS = 32_000
"""The same of what is written to files, where long runs of the same have their place."""
_LONGEST_BLOCK = 1_000
_FEWEST_TIMES = 8
_EVERY = 1_000
"""Characters from one look to the next."""
_SAMPLE = 200
_KEPT_TIMES = 2


class Repetition:
    """Watches a text as it grows; *least* characters that are one block again and again are it.

    With a *least* of 0 nothing is.
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._tail = ""
        self._unseen = 0
        self.block = 0
        """Characters of the block that repeats; 0 while nothing does."""

    def feed(self, text: str) -> None:
        """Take in the next *text*."""
        if self.block or not self._least:
            return
        self._tail += text
        self._unseen += len(text)
        if self._unseen < _EVERY:
            return
        self._unseen = 0
        self._tail = self._tail[-self._least :]
        if len(self._tail) == self._least:
            self.block = _block(self._tail)

    def shortened(self, text: str) -> str:
        """Return *text*, which was fed, with the block that repeats at its end but a few times."""
        if not self.block:
            return text
        block = text[-self.block :]
        start = len(text) - len(block)
        while text.endswith(block, 0, start) and start:
            start -= self.block
        return text[: start + _KEPT_TIMES * self.block]


def _block(tail: str) -> int:
    """Return the length of the block that *tail* is made of, 0 if there is none."""
    start = len(tail) - _SAMPLE
    block = start - tail.rfind(tail[start:], 0, len(tail) - 1)
    if not 0 < block <= min(_LONGEST_BLOCK, len(tail) // _FEWEST_TIMES):
        return 0
    return block if tail[block:] == tail[:-block] else 0
