"""The three standard streams: made whole at the start, and a loss of one told from other errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO


class OutputLost(Exception):
    """Standard output or error takes nothing any more; *why* is in the words of the system.

    *is_unread* says that who read it went away, which is no failure: they have seen enough.
    """

    def __init__(self, why: str, *, is_unread: bool) -> None:
        super().__init__(why)
        self.why = why
        self.is_unread = is_unread


class StandardOutput(TextIOWrapper):
    """Standard output or error; a failure to write raises `OutputLost`."""

    def write(self, text: str, /) -> int:
        with self._watched():
            return super().write(text)

    def flush(self) -> None:
        with self._watched():
            super().flush()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._forget()
            is_unread = isinstance(error, BrokenPipeError)
            raise OutputLost(error.strerror or str(error), is_unread=is_unread) from error

    def _forget(self) -> None:
        """Let what is left go nowhere: Python flushes once more when it exits, and complains."""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.fileno())
        os.close(null)


def complete() -> None:
    """Make sure that all three are there; those to write to become a `StandardOutput`.

    One that was closed becomes the null device: else the next file that is opened would get its
    number, and what is said to the person would be written into that.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    # Who asks for the size of the terminal asks the streams with the underscores.
    sys.stdout = sys.__stdout__ = _output(  # type: ignore[misc]
        sys.stdout, line_buffering=sys.stdout.isatty()
    )
    sys.stderr = sys.__stderr__ = _output(sys.stderr, line_buffering=True)  # type: ignore[misc]


def print_error(text: str) -> None:
    """Say *text* in the program's name on standard error, for whoever listens there."""
    with suppress(OutputLost):
        sys.stderr.write(f"Onefold: {text}\n")


def _output(stream: TextIO, *, line_buffering: bool) -> StandardOutput:
    encoding = stream.encoding
    return StandardOutput(
        stream.detach(),  # type: ignore[attr-defined]
        encoding=encoding,
        errors="replace",
        line_buffering=line_buffering,
    )
