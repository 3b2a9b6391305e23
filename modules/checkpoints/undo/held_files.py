"""Files that no checkpoint holds, kept open while a call runs, so that a deleted one comes back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from core.tools import ToolError
from modules.files.project import Project

MAX_HELD = 100
"""Files that are kept open; each takes a descriptor."""
_REASONS = frozenset({"large", "full", "room"})
"""Reasons (keys of `REASONS`) for which a file that can be read is not stored."""


class HeldFiles:
    """Files of *project* that are open from before a call until it has been decided about."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._descriptors: dict[str, int] = {}
        self._there_before: frozenset[str] = frozenset()

    def hold(self, not_stored: Iterable[tuple[str, str]], *, begins_task: bool) -> None:
        """Keep open those of *not_stored*, paths and why each is not, that are only too much.

        Of those that came since the call with which the task *begins* none: it made them itself.
        """
        self.release()
        candidates = {path for path, reason in not_stored if reason in _REASONS}
        if begins_task:
            self._there_before = frozenset(candidates)
        for path in sorted(candidates & self._there_before):
            if len(self._descriptors) < MAX_HELD:
                # What is gone by now, or no longer to be read, is left out.
                with suppress(ToolError), self._project.open_stream(path) as stream:
                    self._descriptors[path] = os.dup(stream.fileno())

    def lost(self) -> tuple[str, ...]:
        """Return those of which nothing is left, by the paths that they had."""
        return tuple(self._gone())

    def put_back(self) -> frozenset[str]:
        """Make those that are lost anew where nothing else is; return the paths of these.

        Raises `ToolError` for what cannot be made.
        """
        back = frozenset(self._gone())
        for path in back:
            self._project.copy_in(self._descriptors[path], path)
        return back

    def release(self) -> None:
        """Let go of all of them."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def _gone(self) -> Iterator[str]:
        """Yield the paths of those that have no name any more, nor another file theirs."""
        for path, descriptor in self._descriptors.items():
            if not os.fstat(descriptor).st_nlink and self._project.stat(path) is None:
                yield path
