"""Limits that the kernel keeps for each process; `watchdog` keeps those of all together."""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from modules.sandbox.types import Limits

_OPEN_FILES = 1024
_CPU_GRACE = (
    5  # seconds of processor time beyond the wall time, for when we cannot end it ourselves
)


def set_limits(process: int, limits: Limits, *, has_user_namespace: bool) -> None:
    """Limit *process* and whatever it starts from now on; nothing if it is gone already.

    The number of processes is counted by user namespace, and not at all for root: without a
    namespace of its own, the user's other processes count as well. Where limits
    cannot be set from outside, the launcher sets those of `inner_limits`.
    """
    if not hasattr(resource, "prlimit"):
        return
    with suppress(ProcessLookupError, PermissionError):
        others = 0 if has_user_namespace else _processes_of_user()
        for kind, value in _rlimits(limits, others):
            _, hard = resource.prlimit(process, kind)
            if hard != resource.RLIM_INFINITY:
                value = min(value, hard)
            resource.prlimit(process, kind, (value, value))
    _raise_oom_score(process)


def inner_limits(limits: Limits) -> dict[str, int]:
    """Return the limits by name that a process can set for itself on every Unix."""
    return {
        "CPU": math.ceil(limits.seconds) + _CPU_GRACE,
        "FSIZE": limits.file_size,
        "NOFILE": _OPEN_FILES,
        "CORE": 0,
    }


def _processes_of_user() -> int:
    """Return how many processes and threads the user has now; 0 for root, who is not counted."""
    user, count = os.getuid(), 0
    with os.scandir("/proc") as entries:
        for entry in entries if user else ():
            with suppress(OSError):
                if entry.name.isdecimal() and entry.stat().st_uid == user:
                    count += len(os.listdir(f"{entry.path}/task"))  # noqa: PTH208 - many
    return count


def _rlimits(limits: Limits, others: int) -> Iterator[tuple[int, int]]:
    yield resource.RLIMIT_NPROC, limits.processes + others
    yield resource.RLIMIT_DATA, limits.memory
    yield resource.RLIMIT_FSIZE, limits.file_size
    yield resource.RLIMIT_NOFILE, _OPEN_FILES
    yield resource.RLIMIT_CPU, math.ceil(limits.seconds) + _CPU_GRACE
    for kind in ("CORE", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO"):
        yield getattr(resource, f"RLIMIT_{kind}"), 0


def _raise_oom_score(process: int) -> None:
    """When the machine runs out of memory, the kernel shall end the sandbox, not the desktop."""
    with suppress(OSError):
        Path(f"/proc/{process}/oom_score_adj").write_text("500", encoding="ascii")
