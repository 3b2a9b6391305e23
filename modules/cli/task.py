"""The task of `-p`: what was typed, and what was piped in."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable

from utils.phrases import Phrase, Problem, phrase

PATIENCE = 3.0
"""Seconds to wait for the first byte of a pipe that nobody may ever write to."""


def read_task(said: str, warn: Callable[[Phrase], None]) -> str:
    """Return the task: *said*, with what standard input has piped in behind it.

    "-" means standard input alone. Raises `Problem` when there is no task.
    """
    is_all = said == "-"
    piped = "" if said.startswith("/") else _piped(is_wanted=is_all, warn=warn)
    task = piped.strip() if is_all else "\n\n".join(filter(None, [said.strip(), piped.rstrip()]))
    if not task:
        raise Problem(phrase("There is no task: say one after -p, or pipe one in."))
    return task


def _piped(*, is_wanted: bool, warn: Callable[[Phrase], None]) -> str:
    try:
        descriptor = sys.stdin.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or none at all
        return ""
    if is_wanted or stat.S_ISREG(kind):
        return _read()
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return ""
    if not select.select([descriptor], [], [], PATIENCE)[0]:
        warn(phrase("Nothing came on standard input; going on without it."))
        return ""
    return _read()


def _read() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")
