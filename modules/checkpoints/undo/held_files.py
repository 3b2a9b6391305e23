"""Files that no checkpoint holds, kept while a call runs, so that they can be what they were.

Open, for a deleted or a replaced one comes back from that. Of one that is changed in its place the
content comes back from a copy: one without a name on the project's own disk, which takes no room
where the file system lets files share it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from core.tools import ToolError
from modules.files.project import Project
from utils.waiting import Stop

MAX_HELD = 100
"""Files that are kept open; each takes a descriptor."""
MAX_COPIED = 512_000_000
"""Bytes of copies that share no room with their files."""
_REASONS = frozenset({"large", "full", "room"})
"""Reasons (keys of `REASONS`) for which a file that can be read is not stored."""
_COMPARED = 1 << 20  # bytes at a time
_MAX_COMPARED = 512 << 20
"""Bytes up to which two files are compared as a whole; of larger ones only the ends are."""
_END = 16 << 20

_Stamp = tuple[int, int, int]


class HeldFiles:
    """Files of *project* that are open from before a call until it has been decided about.

    A copy is kept as long as its file is the same, also between tasks.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._descriptors: dict[str, int] = {}
        self._copies: dict[str, tuple[_Stamp, int]] = {}  # of what, and its descriptor
        self._stamps: dict[str, _Stamp] = {}  # as the task found them
        self._there_before: frozenset[str] = frozenset()

    def hold(self, not_stored: Iterable[tuple[str, str]], *, begins_task: bool) -> None:
        """Keep open those of *not_stored*, paths and why each is not, that are only too much.

        Of those that came since the call with which the task *begins* none: it made them itself.
        """
        self.release()
        candidates = {path for path, reason in not_stored if reason in _REASONS}
        if begins_task:
            self._there_before = frozenset(candidates)
            self._stamps.clear()
        for path in self._copies.keys() - candidates:
            self._drop_copy(path)
        for path in sorted(candidates & self._there_before):
            if len(self._descriptors) < MAX_HELD:
                # What is gone by now, or no longer to be read, is left out.
                with suppress(ToolError), self._project.open_stream(path) as stream:
                    self._hold_file(path, stream.fileno())

    def _hold_file(self, path: str, file: int) -> None:
        stamp = _stamp_of(os.fstat(file))
        found = self._stamps.setdefault(path, stamp)
        if stamp[0] != found[0]:  # another one, which the task has put there
            return
        self._descriptors[path] = os.dup(file)
        if path in self._copies and self._copies[path][0] == stamp:
            return
        is_kept = stamp == found or self._is_only_longer(path, file, stamp)
        self._drop_copy(path)
        if is_kept:  # not overwritten by the task, with a yes
            self._stamps[path] = stamp
            self._copy(path, file, stamp)

    def _is_only_longer(self, path: str, file: int, stamp: _Stamp) -> bool:
        """Return whether *file* is as its copy at both ends of that, and may go on after it."""
        if path not in self._copies:
            return False
        (inode, size, _), copy = self._copies[path]
        return stamp[0] == inode and stamp[1] >= size and _are_ends_alike(copy, file, size)

    def _copy(self, path: str, file: int, stamp: _Stamp) -> None:
        sizes = (os.fstat(copy).st_blocks * 512 for _, copy in self._copies.values())
        copy = self._project.copy_unnamed(file, MAX_COPIED - sum(sizes))
        if copy is None:
            return
        self._copies[path] = stamp, copy
        if _stamp_of(os.fstat(file)) != stamp:  # somebody wrote to it meanwhile
            self._drop_copy(path)

    def _drop_copy(self, path: str) -> None:
        if path in self._copies:
            os.close(self._copies.pop(path)[1])

    def lost(self) -> tuple[str, ...]:
        """Return those of which nothing is left, by the paths that they had."""
        return tuple(path for path, _ in self._without_name() if self._project.stat(path) is None)

    def overwritten(self, stop: Stop) -> tuple[str, ...]:
        """Return those of which another file, or other content, is in their place.

        Not one that something was only added to, nor one that was changed in its place and has no
        copy, or is changed only between the ends that are compared: of large files, and of all
        from *stop* on.
        """
        replaced = {path for path, _ in self._without_name()}.difference(self.lost())
        return tuple(
            path for path in self._descriptors if path in replaced or self._changed(path, stop)
        )

    def _changed(self, path: str, stop: Stop) -> bool:
        status = self._project.stat(path)
        if status is None or path not in self._copies:
            return False
        (inode, size, _), copy = self._copies[path]
        stamp = _stamp_of(status)
        if stamp[0] != inode or stamp == self._copies[path][0]:
            return False
        return stamp[1] < size or not _begin_alike(copy, self._descriptors[path], size, stop)

    def put_back(self) -> frozenset[str]:
        """Make those that are lost anew, and the overwritten what they were; return their paths.

        Raises `ToolError` for what cannot be made.
        """
        lost, overwritten = self.lost(), self.overwritten(Stop())
        for path in (*lost, *overwritten):
            self._project.copy_in(self._content_of(path), path, replaces=path in overwritten)
            if status := self._project.stat(path):
                self._stamps[path] = _stamp_of(status)
        return frozenset((*lost, *overwritten))

    def _content_of(self, path: str) -> int:
        """Return a descriptor of what *path* held before the call."""
        file = self._descriptors[path]
        if path in self._copies and _stamp_of(os.fstat(file)) != self._copies[path][0]:
            return self._copies[path][1]
        return file

    def release(self) -> None:
        """Let go of all of them but for the copies."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])

    def close(self) -> None:
        self.release()
        for path in list(self._copies):
            self._drop_copy(path)

    def _without_name(self) -> Iterator[tuple[str, int]]:
        """Yield those that have no name any more, by the paths that they had."""
        return ((p, file) for p, file in self._descriptors.items() if not os.fstat(file).st_nlink)


def _stamp_of(status: os.stat_result) -> _Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _begin_alike(one: int, other: int, size: int, stop: Stop) -> bool:
    """Return whether the first *size* bytes of two open files are the same, as far as is looked."""
    if not _are_ends_alike(one, other, size):
        return False
    between = range(_END, size - _END if size <= _MAX_COMPARED else 0, _COMPARED)
    for place in between:
        if stop.is_set():
            return True
        if not _alike_at(one, other, place, size):
            return False
    return True


def _are_ends_alike(one: int, other: int, size: int) -> bool:
    """Return whether the first *size* bytes of two open files begin and end with the same."""
    places = {*range(0, min(size, _END), _COMPARED), *range(max(0, size - _END), size, _COMPARED)}
    return all(_alike_at(one, other, place, size) for place in sorted(places))


def _alike_at(one: int, other: int, place: int, size: int) -> bool:
    amount = min(_COMPARED, size - place)
    return os.pread(one, amount, place) == os.pread(other, amount, place)
