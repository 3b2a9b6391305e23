"""What a tree of processes uses together: memory, processes, disk.

The kernel limits memory and processes only in a control group, and the disk nowhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from modules.sandbox.filesystem.folders import entries_of
from modules.sandbox.limits.cgroup import Cgroup
from modules.sandbox.limits.procfs import (
    children_by_parent,
    children_of,
    deleted_files,
    has_mapped_deleted,
    may_share,
    place_of,
    proportional,
    resident,
    shared_by_all,
    threads_of,
    written_by,
)
from modules.sandbox.types import Limits, Why

_HAS_PROC = Path("/proc/self/task").exists()
_HAS_CHILDREN = Path("/proc/self/task", str(os.getpid()), "children").exists()
_BLOCK = 512  # bytes, the unit of st_blocks
_MOST_REFUSED = 1_000  # processes; a program that asks on and on is a bomb
_LONGEST_AT_LIMIT = 30  # looks
_CLOSER_LOOK = 3.0  # seconds


class Watchdog:
    """Looks at the tree below *root* (a process id) and says which limit it has broken.

    *folders* are where its files on the disk are, *temporary* those in memory, as it sees them; in
    *group* the kernel keeps its memory.
    """

    def __init__(
        self,
        root: int,
        folders: Sequence[Path],
        limits: Limits,
        group: Cgroup | None = None,
        *,
        temporary: Sequence[Path] = (),
    ) -> None:
        self._temporary = temporary
        self._group = group
        self._looks_at_limit = 0
        self._root = root
        self._folders = folders
        self._limits = limits
        self._started = time.time()
        self._parents: dict[int, list[int]] | None = None
        self._free = [_free(folder) for folder in folders]
        self._devices = {folder.stat().st_dev for folder in folders}
        self._most_written = limits.disk_growth  # bytes, until the next closer look
        self._shared = shared_by_all()

    def complaint(self) -> Why | None:
        processes = list(self._tree())
        if self._is_bomb(sum(threads for _, threads in processes)):
            return "processes"
        if self._is_memory_exceeded([process for process, _ in processes]):
            return "memory"
        if self._has_too_many_files([process for process, _ in processes]):
            return "files"
        if self._has_filled_the_disk([self._root, *(process for process, _ in processes)]):
            return "disk"
        return None

    def _tree(self) -> Iterator[tuple[int, int]]:
        """Yield each process below the root with its number of threads.

        It stops some way beyond the limit: of a fork bomb, enough has been seen by then.
        """
        if not _HAS_PROC:
            yield from self._listed()
            return
        self._parents = None if _HAS_CHILDREN else children_by_parent()
        waiting, seen = [self._root], 0
        while waiting and seen <= self._limits.processes + 8:
            process = waiting.pop()
            threads = threads_of(process)
            if self._parents is None:
                waiting += children_of(process, threads)
            else:
                waiting += self._parents.get(process, ())
            if process != self._root:
                seen += len(threads)
                yield process, len(threads)

    def _listed(self) -> Iterator[tuple[int, int]]:
        """Do the same by what `ps` says."""
        table = _table()
        waiting = [self._root]
        while waiting:
            above = waiting.pop()
            below = [process for process, (parent, _) in table.items() if parent == above]
            waiting += below
            yield from ((process, 1) for process in below)

    def _is_bomb(self, count: int) -> bool:
        """Return whether *count* processes are too many, or it presses against the limit."""
        self._looks_at_limit = self._looks_at_limit + 1 if count >= self._limits.processes else 0
        if count > self._limits.processes or self._looks_at_limit > _LONGEST_AT_LIMIT:
            return True
        return self._group is not None and self._group.refusals() > _MOST_REFUSED

    def _is_memory_exceeded(self, processes: list[int]) -> bool:
        if self._group:
            return self._group.memory_kills() > 0
        limit = self._limits.memory
        if not _HAS_PROC:
            table = _table()
            return sum(table[process][1] for process in processes if process in table) > limit
        places = list(map(place_of, processes))
        grown = max(0, shared_by_all() - self._shared)
        if not places or sum(map(resident, places)) + grown <= limit:
            return False
        # Pages that forks share were counted once for each: look again, more slowly.
        own, shared = map(sum, zip(*map(proportional, places), strict=True))
        if own + shared > limit:
            return True
        # What a process shares stays in memory when it lets go of the pages, and nobody tells.
        return own + max(shared, grown) > limit and any(map(may_share, places))

    def _has_too_many_files(self, processes: list[int]) -> bool:
        """Return whether memory fills with names of files, which its size does not limit."""
        for process in processes[-1:]:
            root = f"{place_of(process)}/root"
            names = (_names(root, place) for place in self._temporary)
            return sum(names) > self._limits.temporary_files
        return False

    def _has_filled_the_disk(self, processes: list[int]) -> bool:
        """Return whether too much was written; a closer look tells, when there is reason for one.

        That is less room, or, as others may make room meanwhile, much that was written.
        """
        limit, written = self._limits.disk_growth, sum(map(written_by, processes))
        lost = max(
            before - _free(folder) for before, folder in zip(self._free, self._folders, strict=True)
        )
        if lost <= limit and written <= self._most_written:
            return False
        grown = self._growth(lost)
        self._most_written = written + limit - grown
        return grown > limit

    def _growth(self, lost: int) -> int:
        """Return the bytes on disk of what was changed since the start, deleted files too.

        Where something is hidden from us, that is taken for all that was *lost*.
        """
        total, is_all = self._changed()
        deleted = self._deleted()
        total += sum((deleted or {}).values())
        return total if is_all and deleted is not None else max(total, lost)

    def _changed(self) -> tuple[int, bool]:
        """Return the bytes on disk of what is there and was changed, and whether that is all.

        It stops beyond the limit, and when it takes so long that much more could be written.
        """
        total, is_all = 0, True
        folders = [os.fspath(folder) for folder in self._folders]
        end = time.monotonic() + _CLOSER_LOOK
        while folders and total <= self._limits.disk_growth:
            if time.monotonic() > end:
                return total, False
            folder = folders.pop()
            entries = entries_of(folder)
            is_all &= entries is not None
            for entry in entries or ():
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{folder}/{entry.name}")
                if (found := _stat(entry)) and found.st_ctime >= self._started - 1:
                    total += found.st_blocks * _BLOCK
        return total, is_all

    def _deleted(self) -> dict[int, int] | None:
        """Return the bytes on disk, by inode, of deleted files in use; None if that is hidden."""
        files: dict[int, int] = {}
        for process, _ in self._tree():
            held = deleted_files(process, self._devices)
            if held is None or has_mapped_deleted(place_of(process), self._folders):
                return None
            files |= held
        return files


def _table() -> dict[int, tuple[int, int]]:
    """Return the parent and the resident bytes of each process, where there is no /proc."""
    asked = subprocess.run(["/bin/ps", "-axo", "pid=,ppid=,rss="], capture_output=True, check=False)
    rows = (list(map(int, line.split())) for line in asked.stdout.splitlines())
    return {process: (parent, resident * 1024) for process, parent, resident in rows}


def _free(folder: Path) -> int:
    """Return the bytes that are free on the disk of *folder*; no end of them when that is gone."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return sys.maxsize
    return found.f_bavail * found.f_frsize


def _names(root: str, place: Path) -> int:
    """Return how many files there are in the file system of *place* below *root*.

    0 if it cannot be seen, or is still ours: a sandbox is being watched before its walls stand.
    """
    inside = f"{root}{place}"
    try:
        if os.stat(root).st_dev == os.stat("/").st_dev:  # noqa: PTH116 - many times a second
            return 0
        found = os.statvfs(inside)
    except OSError:
        return 0
    return found.f_files - found.f_ffree


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None
