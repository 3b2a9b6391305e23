"""The three standard streams: repaired at the start, with an error of its own for a lost one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO


class OutputLost(Exception):
    """Standard output or error takes nothing any more; *reason* is in the words of the system.

    *is_broken_pipe* says that who read it went away, which is no failure: they have seen enough.
    """

    def __init__(self, reason: str, *, is_broken_pipe: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_broken_pipe = is_broken_pipe


class StandardOutput(TextIOWrapper):
    """Standard output or error; a failure to write raises `OutputLost`."""

    def write(self, text: str, /) -> int:
        with self._raising_output_lost():
            return super().write(text)

    def flush(self) -> None:
        with self._raising_output_lost():
            super().flush()

    @contextmanager
    def _raising_output_lost(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._redirect_to_null()
            is_unread = isinstance(error, BrokenPipeError)
            raise OutputLost(error.strerror or str(error), is_broken_pipe=is_unread) from error

    def _redirect_to_null(self) -> None:
        """Discard unwritten output: Python flushes once more when it exits, and complains."""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.fileno())
        os.close(null)


def repair_streams() -> None:
    """Make sure that all three are there; those to write to become a `StandardOutput`.

    One that was closed becomes the null device: else the next file that is opened would get its
    number, and what is said to the person would be written into that.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    # Who asks for the size of the terminal asks the streams with the underscores.
    sys.stdout = sys.__stdout__ = _standard_output(  # type: ignore[misc]
        sys.stdout, line_buffering=sys.stdout.isatty()
    )
    sys.stderr = sys.__stderr__ = _standard_output(sys.stderr, line_buffering=True)  # type: ignore[misc]


def print_error(text: str) -> None:
    """Say *text* in the program's name on standard error, for whoever listens there."""
    with suppress(OutputLost):
        sys.stderr.write(f"Onefold: {text}\n")


def _standard_output(stream: TextIO, *, line_buffering: bool) -> StandardOutput:
    encoding = stream.encoding
    return StandardOutput(
        stream.detach(),  # type: ignore[attr-defined]
        encoding=encoding,
        errors="replace",
        line_buffering=line_buffering,
    )
