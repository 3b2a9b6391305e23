"""The output of a program: its two ends at hand, what is between them in a file without a name."""

from __future__ import annotations

import codecs
import tempfile
from typing import IO, Protocol

MAX_LIVE = 2_000_000
"""Characters that are passed on while a program runs; nobody reads along further than that."""


class OutputSink(Protocol):
    """Takes the output of a program, from one thread."""

    @property
    def total(self) -> int:
        """Bytes that came so far."""

    def add(self, data: bytes, *, final: bool = False) -> str:
        """Take *data*; return what is to be passed on as text."""

    def head_and_tail(self) -> tuple[str, str, int]:
        """Return the head, the tail and the number of characters left out between them."""

    def middle(self) -> str:
        """Return what is between the two ends, as far as it is kept."""


class ProgramOutput:
    """Takes bytes as they come and keeps at most *limit* characters, half of them the newest."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._head: list[str] = []
        self._tail: list[str] = []
        self._head_left = self._half
        self._live_left = MAX_LIVE
        self._tail_length = 0
        self._left_out = 0
        self._middle: IO[bytes] | None = None
        self.total = 0  # bytes

    def add(self, data: bytes, *, final: bool = False) -> str:
        """Take *data*; return its text, none any more after the first `MAX_LIVE` characters."""
        self.total += len(data)
        text = self._decode(data, final)
        first, rest = text[: self._head_left], text[self._head_left :]
        self._head_left -= len(first)
        self._head.append(first)
        if rest:
            self._tail.append(rest)
            self._tail_length += len(rest)
            if self._tail_length > 2 * self._half:
                self._trim()
        live = text[: self._live_left]
        self._live_left -= len(live)
        return live

    def _trim(self) -> None:
        text = "".join(self._tail)
        newest = text[-self._half :]
        left_out = text[: len(text) - len(newest)]
        self._left_out += len(left_out)
        if self._middle is None:
            self._middle = tempfile.TemporaryFile()  # noqa: SIM115 - see close
        self._middle.write(left_out.encode("utf-8", "surrogatepass"))
        self._tail, self._tail_length = [newest], len(newest)

    def head_and_tail(self) -> tuple[str, str, int]:
        """Return the head, the tail and the number of characters left out between them."""
        if self._tail_length > self._half:
            self._trim()
        return "".join(self._head), "".join(self._tail), self._left_out

    def middle(self) -> str:
        """Return what is between the two ends, at the end."""
        if self._middle is None:
            return ""
        self._middle.seek(0)
        return self._middle.read().decode("utf-8", "surrogatepass")

    def close(self) -> None:
        if self._middle:
            self._middle.close()
