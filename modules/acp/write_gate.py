"""Gate between an editor's write and the turns of other sessions in the same files.

An editor opens a path by its name, where a program of such a turn might have put a link meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from utils.waiting import Stop


class WriteGate:
    """Holds turns back while an editor writes into their folder, in it, or around it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._roots: list[Path] = []

    @contextmanager
    def writing(self, root: Path, is_quiet: Callable[[], bool]) -> Iterator[bool]:
        """Yield whether the folder *root* *is quiet*; no turn begins there until the end then."""
        with self._changed:
            if is_writing := is_quiet():
                self._roots.append(root)
        try:
            yield is_writing
        finally:
            if is_writing:
                with self._changed:
                    self._roots.remove(root)
                    self._changed.notify_all()

    def wait(self, root: Path, stop: Stop, is_cancelled: Callable[[], bool]) -> bool:
        """Wait until nobody writes there; return whether a turn may begin.

        It may not where *is cancelled* comes first, which is looked at whenever *stop* is set.
        """
        with stop.on_stop(self._look_again), self._changed:
            self._changed.wait_for(lambda: is_cancelled() or self._is_free(root))
            return self._is_free(root)

    def _look_again(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _is_free(self, root: Path) -> bool:
        return not any(overlap(root, one) for one in self._roots)


def overlap(one: Path, other: Path) -> bool:
    """Return whether the folders are the same, or one is in the other."""
    return one.is_relative_to(other) or other.is_relative_to(one)
