"""The three standard streams: made whole at the start, and watched for a loss at the end."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def complete() -> None:
    """Make sure that all three are there and take any text.

    One that was closed becomes the null device: else the next file that is opened would get its
    number, and what is said to the person would be written into that.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def is_lost(stream: TextIO) -> bool:
    """Return whether *stream* takes nothing any more; if so, what is left of it is thrown away.

    Python flushes the streams once more when it exits, and complains.
    """
    try:
        stream.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        return True
    return False
