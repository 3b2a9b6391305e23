"""Capacity of this machine: no call is promised more of anything."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from modules.sandbox.types import Limits


def fit_to_machine(limits: Limits, folder: Path) -> Limits:
    """Return *limits* with no memory, processes or disk in them that this machine has not.

    The disk is that of *folder*, in which programs work.
    """
    memory, disk = _memory(), _disk(folder)
    return replace(
        limits,
        memory=min(limits.memory, memory),
        tmp_size=min(limits.tmp_size, memory),  # it is memory
        processes=min(limits.processes, _processes()),
        disk_growth=min(limits.disk_growth, disk),
        file_size=min(limits.file_size, disk),
    )


def exceeding(wanted: Limits, fitted: Limits) -> list[str]:
    """Return the settings of which *wanted* has more than *fitted*, their `fit_to_machine`."""
    fields = {
        "memory_mb": "memory",
        "tmp_mb": "tmp_size",
        "processes": "processes",
        "disk_mb": "disk_growth",
    }
    return [
        setting for setting, name in fields.items() if getattr(wanted, name) > getattr(fitted, name)
    ]


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _processes() -> int:
    """Return how many processes and threads this user may have, as far as the system says."""
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    found = [hard] if hard != resource.RLIM_INFINITY else []
    with suppress(OSError, ValueError):  # not on Linux
        found.append(int(Path("/proc/sys/kernel/threads-max").read_text(encoding="ascii")))
    return min(found, default=100_000)


def _disk(folder: Path) -> int:
    """Return the bytes of the disk of *folder*; without end where it does not say."""
    statistics = os.statvfs(folder)
    return statistics.f_blocks * statistics.f_frsize or sys.maxsize
