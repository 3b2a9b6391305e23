"""Finder of the toolchains, asked before each call and looking again after a change."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from modules.sandbox.toolchains.boundaries import Boundaries
from modules.sandbox.toolchains.shown import Toolchains

_MAX_WATCHED = 150  # each is looked at before each call: some microseconds


class ToolchainFinder:
    """Finds what the person's *environment* leads to, and *show_folders*; nothing of it is kept."""

    def __init__(
        self,
        environment: Mapping[str, str],
        show_folders: Sequence[Path],
        boundaries: Boundaries,
    ) -> None:
        self._environment = environment
        self._show_folders = show_folders
        self._boundaries = boundaries
        self._lock = threading.Lock()
        self._found = Toolchains()
        self._watched: list[str] = []
        self._times: list[int] | None = None

    def find(self) -> Toolchains:
        """Return the toolchains as they are now."""
        if not self._environment and not self._show_folders:
            return Toolchains()
        with self._lock:
            if self._times is None or self._times != _times(self._watched):
                # Only here: who has none does not pay for it.
                from modules.sandbox.toolchains.root_search import ToolchainSearch

                search = ToolchainSearch(self._environment, self._show_folders, self._boundaries)
                self._found = search.run()
                watched = dict.fromkeys(map(os.fspath, search.watched))
                self._watched = list(watched)[:_MAX_WATCHED]
                self._times = _times(self._watched)
            return self._found


def _times(paths: Iterable[str]) -> list[int]:
    """Return when each of *paths* has changed, in nanoseconds; 0 for what is not there."""
    times = []
    for path in paths:
        try:
            times.append(os.stat(path).st_mtime_ns)  # noqa: PTH116 - before each call
        except OSError:
            times.append(0)
    return times
