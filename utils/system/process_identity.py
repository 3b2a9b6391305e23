"""Telling one process from a later one that happens to have the same number."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def is_running(pid: int, started: str) -> bool:
    """Return whether process *pid* lives and is the one that began at *started*."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started_at(pid) == started


def started_at(pid: int) -> str:
    """Return when process *pid* began, in ticks since the boot.

    "" where nobody tells, and for one that is over and was only not asked about by its parent.
    """
    with suppress(OSError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        # The name of the program stands in brackets and may itself hold brackets and blanks.
        state, *facts = stat.rpartition(")")[2].split()
        return "" if state in ("Z", "X") else facts[18]
    return ""
