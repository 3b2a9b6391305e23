"""Identity of a process, which tells it from a later one with the same number."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def is_running(pid: int, expected_start: str) -> bool:
    """Return whether process *pid* lives and is the one that began at *expected_start*."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return start_ticks(pid) == expected_start


def start_ticks(pid: int) -> str:
    """Return the start of process *pid*, in ticks since the boot.

    "" where nobody tells, and for one that is over and was only not asked about by its parent.
    """
    with suppress(OSError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        # The name of the program stands in brackets and may itself hold brackets and blanks.
        state, *fields = stat.rpartition(")")[2].split()
        return "" if state in ("Z", "X") else fields[18]
    return ""
