"""What a tree of processes uses together: memory, processes, disk.

The kernel limits memory and processes only in a control group, and the disk nowhere. All is read
from /proc; a process that ends while we look counts as nothing.
"""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from modules.sandbox.folders import entries_of
from modules.sandbox.group import Group
from modules.sandbox.terms import Limits, Why

_HAS_PROC = Path("/proc/self/task").exists()
_PAGE = resource.getpagesize()
_HAS_CHILDREN = Path("/proc/self/task", str(os.getpid()), "children").exists()
_BLOCK = 512  # bytes, the unit of st_blocks
_MOST_REFUSED = 1_000  # processes; a program that asks on and on is a bomb
_LONGEST_AT_LIMIT = 30  # looks


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
        group: Group | None = None,
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

    def complaint(self) -> Why | None:
        processes = list(self._tree())
        if self._is_bomb(sum(threads for _, threads in processes)):
            return "processes"
        if self._is_memory_exceeded([process for process, _ in processes]):
            return "memory"
        if self._has_too_many_files([process for process, _ in processes]):
            return "files"
        lost = max(
            before - _free(folder) for before, folder in zip(self._free, self._folders, strict=True)
        )
        if lost > self._limits.disk_growth and self._growth(lost) > self._limits.disk_growth:
            return "disk"
        return None

    def _tree(self) -> Iterator[tuple[int, int]]:
        """Yield each process below the root with its number of threads.

        It stops some way beyond the limit: of a fork bomb, enough has been seen by then.
        """
        if not _HAS_PROC:
            yield from self._listed()
            return
        self._parents = None if _HAS_CHILDREN else _children_by_parent()
        waiting, seen = [self._root], 0
        while waiting and seen <= self._limits.processes + 8:
            process = waiting.pop()
            threads = _threads(process)
            if self._parents is None:
                for thread in threads:
                    waiting += map(int, _read(f"/proc/{process}/task/{thread}/children").split())
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
        if sum(map(_resident, processes)) <= limit:
            return False
        # Pages that forks share were counted once for each: look again, more slowly.
        return sum(map(_proportional, processes)) > limit

    def _has_too_many_files(self, processes: list[int]) -> bool:
        """Return whether memory fills with names of files, which its size does not limit."""
        for process in processes[-1:]:
            names = (_names(f"/proc/{process}/root", place) for place in self._temporary)
            return sum(names) > self._limits.temporary_files
        return False

    def _growth(self, lost: int) -> int:
        """Return the bytes on disk of what was changed since the start, deleted files too.

        Where a folder cannot be looked into, that is taken for all that was *lost*.
        """
        total, is_hidden = 0, False
        folders = [os.fspath(folder) for folder in self._folders]
        while folders:
            folder = folders.pop()
            entries = entries_of(folder)
            is_hidden |= entries is None
            for entry in entries or ():
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{folder}/{entry.name}")
                elif (found := _stat(entry)) and found.st_ctime >= self._started - 1:
                    total += found.st_blocks * _BLOCK
        return max(total + self._held_open(), lost if is_hidden else 0)

    def _held_open(self) -> int:
        files: dict[int, int] = {}
        devices = {folder.stat().st_dev for folder in self._folders}
        for process, _ in self._tree():
            for entry in entries_of(f"/proc/{process}/fd") or ():
                try:
                    found = entry.stat()
                except OSError:
                    continue
                is_deleted = found.st_nlink == 0 and found.st_dev in devices
                if is_deleted and stat.S_ISREG(found.st_mode):
                    files[found.st_ino] = found.st_blocks * _BLOCK
        return sum(files.values())


def _table() -> dict[int, tuple[int, int]]:
    """Return the parent and the resident bytes of each process, where there is no /proc."""
    asked = subprocess.run(["/bin/ps", "-axo", "pid=,ppid=,rss="], capture_output=True, check=False)
    rows = (list(map(int, line.split())) for line in asked.stdout.splitlines())
    return {process: (parent, resident * 1024) for process, parent, resident in rows}


def _children_by_parent() -> dict[int, list[int]]:
    """Return who has which children, where the kernel does not list them (CONFIG_PROC_CHILDREN)."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208
        fields = _read(f"/proc/{name}/stat").rpartition(")")[2].split()
        if fields:
            children.setdefault(int(fields[1]), []).append(int(name))
    return children


def _threads(process: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{process}/task")  # noqa: PTH208 - names only, many times a second
    except OSError:
        return []


def _resident(process: int) -> int:
    fields = _read(f"/proc/{process}/statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def _proportional(process: int) -> int:
    """Return the resident bytes with shared pages divided among those who share them."""
    for line in _read(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123 - hot
            return file.read()
    except OSError:
        return ""


def _free(project: Path) -> int:
    found = os.statvfs(project)
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
