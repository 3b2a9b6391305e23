"""Cache of stats: is a file or folder still as it was when it was last sent to somebody?"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict

Stamp = tuple[int, int, int]
"""The state of a file or folder: inode, time of its last change in nanoseconds, size."""
MTIME_GRAIN_NS = 20_000_000
"""Nanoseconds within which two changes may bear one time, and by which times may lag behind our
clock: those of file systems tick."""
_COARSE_MTIME_GRAIN_NS = 2_000_000_000
"""The same where times have whole seconds only."""
_MAX_PATHS = 5_000


def stamp_of(stat_result: os.stat_result | None) -> Stamp:
    """Return the state of what was *stat_result*; all zeros for nothing."""
    return (
        (stat_result.st_ino, stat_result.st_mtime_ns, stat_result.st_size)
        if stat_result
        else (0, 0, 0)
    )


def settled_at(stamp: Stamp) -> int:
    """Return from when on, in nanoseconds since the epoch, a change would show in *stamp*."""
    _, changed, _ = stamp
    return changed + (MTIME_GRAIN_NS if changed % 1_000_000_000 else _COARSE_MTIME_GRAIN_NS)


def is_settled(stamp: Stamp, now: int) -> bool:
    """Return whether what changes after *now* surely bears another stamp.

    A time that is yet to come says nothing, and so does not make it wait.
    """
    return now >= settled_at(stamp) or now < stamp[1]


class StatCache:
    """The states in which paths were last sent. May be used from any thread."""

    def __init__(self) -> None:
        self._stamps: OrderedDict[str, Stamp] = OrderedDict()
        self._unsettled: dict[str, Stamp] = {}
        self._lock = threading.Lock()

    def record(self, path: str, stamp: Stamp) -> bool:
        """Record that *path* is now sent in the state that it had when its *stamp* was taken.

        Returns whether the stamp alone will show when that state is old.
        """
        is_sure = is_settled(stamp, time.time_ns())
        with self._lock:
            self._stamps[path] = stamp
            self._stamps.move_to_end(path)
            if is_sure:
                self._unsettled.pop(path, None)
            else:
                self._unsettled[path] = stamp
            while len(self._stamps) > _MAX_PATHS:
                self._unsettled.pop(self._stamps.popitem(last=False)[0], None)
        return is_sure

    def last(self, path: str) -> Stamp | None:
        """Return the state in which *path* was last sent, if lately."""
        return self._stamps.get(path)

    def pop_doubtful(self) -> set[str]:
        """Return, once each, the paths that may have changed unseen after they were sent."""
        now = time.time_ns()
        with self._lock:
            doubtful = {path for path, stamp in self._unsettled.items() if is_settled(stamp, now)}
            for path in doubtful:
                del self._unsettled[path]
        return doubtful
