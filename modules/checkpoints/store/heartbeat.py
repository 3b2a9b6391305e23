"""The heartbeat of calls: tells after a kill until when what was at work may have changed files."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

_BEAT_SECONDS = 0.5
_DOUBT_SECONDS = 0.5
"""By how much a beat may come late, and the clock of a file system be another than ours."""


class Heartbeat:
    """Touches the file *path* while calls run, so that a kill leaves the time of its last beat.

    While any runs that time never goes back, whatever the clock does. What could not be touched
    once, because the disk is full, leaves no time at all until the next one begins.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._calls = 0
        self._is_on = threading.Event()
        self._is_closed = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_beating(self) -> bool:
        return self._is_on.is_set()

    def begin(self) -> None:
        """Beat until as many calls have ended as begun; the first beat is made on return."""
        with self._guard:
            self._beat(is_first=not self._calls)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
                self._thread.start()
            self._calls += 1
            self._is_on.set()

    def end(self) -> None:
        with self._guard:
            self._calls = max(self._calls - 1, 0)
            if not self._calls:
                self._is_on.clear()

    def rest(self) -> None:
        """Beat for no call any more, not for one either that was left and will never end."""
        with self._guard:
            self._calls = 0
            self._is_on.clear()

    def close(self) -> None:
        self._is_closed.set()
        self._is_on.set()

    def end_of_doubt(self) -> int | None:
        """Return from when on nobody who was killed changed anything, None where that is unknown.

        In nanoseconds since the epoch, as files tell when they were changed.
        """
        try:
            last = self._path.stat().st_mtime_ns
        except OSError:
            return None
        return last + int((_BEAT_SECONDS + _DOUBT_SECONDS) * 1e9)

    def _beat(self, *, is_first: bool = False) -> None:
        now = time.time_ns()
        try:
            if is_first:
                self._path.touch(0o600)
            else:
                now = max(now, self._path.stat().st_mtime_ns)
            os.utime(self._path, ns=(now, now))
        except OSError:
            with suppress(OSError):
                self._path.unlink()

    def _run(self) -> None:
        while self._is_on.wait() and not self._is_closed.wait(_BEAT_SECONDS):
            with self._guard:
                if self._calls:
                    self._beat()
