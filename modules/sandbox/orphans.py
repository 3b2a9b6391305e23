"""Sandboxes that were killed while they began, and of which one process hangs for ever.

bubblewrap's inner process dies with the outer one only from the moment that it was told its user
numbers. An outer one that is killed just before leaves it waiting: it runs nothing, harms nobody,
but it keeps the mount points of its project from being cleared away.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def end_orphans(folder: Path) -> None:
    """Kill those that were begun with something from *folder*."""
    for process in _orphans(os.fsencode(folder) + b"/"):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)


def _orphans(folder: bytes) -> Iterator[int]:
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, KeyError):  # it is gone by now, or somebody else's
            if _is_bubblewrap(place) and folder in place.joinpath("cmdline").read_bytes():
                about = _status(place)
                is_inner = len(about["NSpid"]) > 1
                if is_inner and not _is_bubblewrap(Path("/proc", about["PPid"][0])):
                    yield int(place.name)


def _is_bubblewrap(place: Path) -> bool:
    return place.joinpath("comm").read_bytes() == b"bwrap\n"


def _status(place: Path) -> dict[str, list[str]]:
    lines = place.joinpath("status").read_text(errors="replace").splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
