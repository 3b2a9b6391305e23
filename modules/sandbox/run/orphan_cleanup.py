"""Cleanup of processes of sandboxes whose Onefold was killed.

A launcher then ends all that it has started, which takes a moment. bubblewrap's inner process dies
with the outer one only from the moment that it was told its user numbers. An outer one that is
killed just before leaves it waiting: it runs nothing, harms nobody, but it keeps the mount points
of its project from being cleared away.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from modules.sandbox.run.pidfd import open_pidfd

_LAUNCHER = os.fsencode(Path(__file__).parents[1] / "backends" / "launcher.py")


def end_orphans(folder: Path) -> None:
    """Kill those that were begun with something from *folder*."""
    for process in _orphans(os.fsencode(folder) + b"/"):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)


def wait_for_launchers(project: Path, seconds: float) -> bool:
    """Wait until those are gone that ran something in *project*; return whether they are."""
    with ExitStack() as stack:
        waiting = []
        for process in _launchers(os.fspath(project)):
            with suppress(ProcessLookupError):
                waiting.append(open_pidfd(process))
                stack.callback(os.close, waiting[-1])
        end = time.monotonic() + seconds
        return all(
            select.select([one], [], [], max(0.0, end - time.monotonic()))[0] for one in waiting
        )


def _launchers(project: str) -> Iterator[int]:
    """Yield the launchers for *project* that what started them has left alone."""
    for proc_path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, KeyError, ValueError):  # it is gone by now, or something else
            words = proc_path.joinpath("cmdline").read_bytes().split(b"\0")
            if _LAUNCHER in words:
                settings = json.loads(words[words.index(_LAUNCHER) + 1])
                is_orphan = int(_status(proc_path)["PPid"][0]) != settings["parent"]
                if settings["folder"] == project and is_orphan:
                    yield int(proc_path.name)


def _orphans(folder: bytes) -> Iterator[int]:
    for proc_path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, KeyError):  # it is gone by now, or somebody else's
            if _is_bubblewrap(proc_path) and folder in proc_path.joinpath("cmdline").read_bytes():
                status = _status(proc_path)
                is_inner = len(status["NSpid"]) > 1
                if is_inner and not _is_bubblewrap(Path("/proc", status["PPid"][0])):
                    yield int(proc_path.name)


def _is_bubblewrap(proc_path: Path) -> bool:
    return proc_path.joinpath("comm").read_bytes() == b"bwrap\n"


def _status(proc_path: Path) -> dict[str, list[str]]:
    lines = proc_path.joinpath("status").read_text(errors="replace").splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
