"""Watch on the files that receipts rest on: who waits at a prompt is told when one changes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from utils.i18n import Phrase

MAX_FILES = 20_000
MAX_LOOKS = 2_000
"""Files, and folders that they are in, that are looked at each time."""
_SECONDS = 1.0
_State = dict[str, tuple[int, int, int]]


class Watched(Protocol):
    """Checks whose receipts rest on files."""

    def files_to_watch(self, limit: int) -> list[str]: ...

    def tell_outdated(self, tell: Callable[[Phrase], bool]) -> bool: ...


class ReceiptWatch:
    """Lets *checks* tell of what stands no more, once, as soon as a file below *root* changes.

    What changed before is told as well. *tell* is called from a thread, until `end`.
    """

    def __init__(self, root: Path, checks: Watched, tell: Callable[[Phrase], bool]) -> None:
        self._root = root
        self._checks = checks
        self._tell = tell
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="receipts", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Watch no more; a look that goes on comes to its end first."""
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        seen: _State = {}
        paths: list[str] = []  # those to look at next are first
        is_first = True
        while not self._is_over.is_set():
            part, rest = paths[:MAX_LOOKS], paths[MAX_LOOKS:]
            paths = rest + part
            if is_first or any(_stamp_of(self._root / path) != seen[path] for path in part):
                is_first = False
                files = self._checks.files_to_watch(MAX_FILES)
                paths = list({*files, *(path.rpartition("/")[0] for path in files)})
                # Before the look: what comes after it shows.
                seen = {path: _stamp_of(self._root / path) for path in paths}
                if self._checks.tell_outdated(self._tell):
                    return
            self._is_over.wait(_SECONDS)


def _stamp_of(path: Path) -> tuple[int, int, int]:
    try:
        found = os.lstat(path)
    except OSError:  # it is gone
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)
