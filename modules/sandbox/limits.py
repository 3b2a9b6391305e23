"""Limits that the kernel keeps for each process; `watchdog` keeps those of all together."""

from __future__ import annotations

import math
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from modules.sandbox.terms import Limits

_OPEN_FILES = 1024
_GRACE = 5  # seconds of processor time beyond the wall time, for when we cannot end it ourselves


def set_limits(process: int, limits: Limits) -> None:
    """Limit *process* and whatever it starts from now on; nothing if it is gone already.

    The number of processes is counted by user namespace, and not at all for root.
    """
    with suppress(ProcessLookupError, PermissionError):
        for kind, value in _values(limits):
            _, hard = resource.prlimit(process, kind)
            if hard != resource.RLIM_INFINITY:
                value = min(value, hard)
            resource.prlimit(process, kind, (value, value))
    _prefer_for_lack_of_memory(process)


def _values(limits: Limits) -> Iterator[tuple[int, int]]:
    yield resource.RLIMIT_NPROC, limits.processes
    yield resource.RLIMIT_DATA, limits.memory
    yield resource.RLIMIT_FSIZE, limits.file_size
    yield resource.RLIMIT_NOFILE, _OPEN_FILES
    yield resource.RLIMIT_CPU, math.ceil(limits.seconds) + _GRACE
    for kind in ("CORE", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO"):
        yield getattr(resource, f"RLIMIT_{kind}"), 0


def _prefer_for_lack_of_memory(process: int) -> None:
    """When the machine runs out of memory, the kernel shall end the sandbox, not the desktop."""
    with suppress(OSError):
        Path(f"/proc/{process}/oom_score_adj").write_text("500", encoding="ascii")
