"""Telling whether a file or folder is still as it was when somebody was told of it."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict

Stamp = tuple[int, int, int]
"""The state of a file or folder: inode, time of its last change in nanoseconds, size."""
GRAIN = 20_000_000
"""Nanoseconds within which two changes may bear one time, and by which times may lag behind our
clock: those of file systems tick."""
_COARSE_GRAIN = 2_000_000_000
"""The same where times have whole seconds only."""
_MOST = 5_000


def stamp_of(found: os.stat_result | None) -> Stamp:
    """Return the state of what was *found*; all zeros for nothing."""
    return (found.st_ino, found.st_mtime_ns, found.st_size) if found else (0, 0, 0)


def settled_at(stamp: Stamp) -> int:
    """Return from when on, in nanoseconds since the epoch, a change would show in *stamp*."""
    _, changed, _ = stamp
    return changed + (GRAIN if changed % 1_000_000_000 else _COARSE_GRAIN)


def is_settled(stamp: Stamp, now: int) -> bool:
    """Return whether what changes after *now* surely bears another stamp.

    A time that is yet to come says nothing, and so does not make it wait.
    """
    return now >= settled_at(stamp) or now < stamp[1]


class StatCache:
    """The states in which paths were told of last. May be used from any thread."""

    def __init__(self) -> None:
        self._told: OrderedDict[str, Stamp] = OrderedDict()
        self._unsettled: dict[str, Stamp] = {}
        self._lock = threading.Lock()

    def tell(self, path: str, stamp: Stamp) -> bool:
        """Note that *path* is now told of as what it was when its *stamp* was taken.

        Returns whether what is told will be known to be old by the stamp alone.
        """
        is_sure = is_settled(stamp, time.time_ns())
        with self._lock:
            self._told[path] = stamp
            self._told.move_to_end(path)
            if is_sure:
                self._unsettled.pop(path, None)
            else:
                self._unsettled[path] = stamp
            while len(self._told) > _MOST:
                self._unsettled.pop(self._told.popitem(last=False)[0], None)
        return is_sure

    def told(self, path: str) -> Stamp | None:
        """Return the state in which *path* was last told of, if lately."""
        return self._told.get(path)

    def take_doubtful(self) -> set[str]:
        """Return, once each, the paths that may have changed after they were told of, unseen."""
        now = time.time_ns()
        with self._lock:
            doubtful = {path for path, stamp in self._unsettled.items() if is_settled(stamp, now)}
            for path in doubtful:
                del self._unsettled[path]
        return doubtful
