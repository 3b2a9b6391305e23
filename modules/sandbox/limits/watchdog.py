"""Watchdog over what a tree of processes uses together: memory, processes, disk.

The kernel limits memory and processes only in a control group, and the disk nowhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from modules.sandbox.filesystem.folders import list_entries
from modules.sandbox.limits.cgroup import Cgroup
from modules.sandbox.limits.procfs import (
    bytes_written,
    children_by_parent,
    children_of,
    deleted_files,
    has_mapped_deleted,
    may_share_memory,
    memory_path,
    proportional_bytes,
    resident_bytes,
    system_shmem,
    threads_of,
)
from modules.sandbox.types import ExitReason, Limits

_HAS_PROC = Path("/proc/self/task").exists()
_HAS_CHILDREN = Path("/proc/self/task", str(os.getpid()), "children").exists()
_BLOCK = 512  # bytes, the unit of st_blocks
_MAX_PIDS_LIMIT_HITS = 1_000  # processes; a program that asks on and on is a bomb
_MAX_CHECKS_AT_LIMIT = 30  # looks
_MEASURE_SECONDS = 3.0  # seconds


class Watchdog:
    """Watchdog of the tree below *root* (a process id), which tells the limit that it exceeds.

    *folders* are where its files on the disk are, *tmpfs_folders* those in memory, as it sees them;
    in *cgroup* the kernel keeps its memory.
    """

    def __init__(
        self,
        root: int,
        folders: Sequence[Path],
        limits: Limits,
        cgroup: Cgroup | None = None,
        *,
        tmpfs_folders: Sequence[Path] = (),
    ) -> None:
        self._tmpfs_folders = tmpfs_folders
        self._cgroup = cgroup
        self._checks_at_limit = 0
        self._root_pid = root
        self._folders = folders
        self._limits = limits
        self._started = time.time()
        self._parents: dict[int, list[int]] | None = None
        self._free = [_free_bytes(folder) for folder in folders]
        self._devices = {folder.stat().st_dev for folder in folders}
        self._write_budget = limits.disk_growth  # bytes, until the next closer look
        self._loss_budget = limits.disk_growth  # bytes of room, the same
        self._initial_shmem = system_shmem()

    def exceeded_limit(self) -> ExitReason | None:
        processes = list(self._processes())
        if self._is_fork_bomb(sum(threads for _, threads in processes)):
            return "processes"
        if self._is_memory_exceeded([process for process, _ in processes]):
            return "memory"
        if self._has_too_many_files([process for process, _ in processes]):
            return "files"
        if self._has_exceeded_disk([self._root_pid, *(process for process, _ in processes)]):
            return "disk"
        return None

    def _processes(self) -> Iterator[tuple[int, int]]:
        """Yield each process below the root with its number of threads.

        It stops some way beyond the limit: of a fork bomb, enough has been seen by then.
        """
        if not _HAS_PROC:
            yield from self._processes_by_ps()
            return
        self._parents = None if _HAS_CHILDREN else children_by_parent()
        pending, seen = [self._root_pid], 0
        while pending and seen <= self._limits.processes + 8:
            process = pending.pop()
            threads = threads_of(process)
            if self._parents is None:
                pending += children_of(process, threads)
            else:
                pending += self._parents.get(process, ())
            if process != self._root_pid:
                seen += len(threads)
                yield process, len(threads)

    def _processes_by_ps(self) -> Iterator[tuple[int, int]]:
        """Do the same by what `ps` says."""
        table = _ps_table()
        pending = [self._root_pid]
        while pending:
            parent_pid = pending.pop()
            children = [process for process, (parent, _) in table.items() if parent == parent_pid]
            pending += children
            yield from ((process, 1) for process in children)

    def _is_fork_bomb(self, count: int) -> bool:
        """Return whether *count* processes are too many, or it presses against the limit."""
        self._checks_at_limit = self._checks_at_limit + 1 if count >= self._limits.processes else 0
        if count > self._limits.processes or self._checks_at_limit > _MAX_CHECKS_AT_LIMIT:
            return True
        return self._cgroup is not None and self._cgroup.pids_limit_hits() > _MAX_PIDS_LIMIT_HITS

    def _is_memory_exceeded(self, processes: list[int]) -> bool:
        if self._cgroup:
            return self._cgroup.oom_kills() > 0
        limit = self._limits.memory
        if not _HAS_PROC:
            table = _ps_table()
            return sum(table[process][1] for process in processes if process in table) > limit
        proc_paths = list(map(memory_path, processes))
        grown = max(0, system_shmem() - self._initial_shmem)
        if not proc_paths or sum(map(resident_bytes, proc_paths)) + grown <= limit:
            return False
        # Pages that forks share were counted once for each: look again, more slowly.
        own, shared = map(sum, zip(*map(proportional_bytes, proc_paths), strict=True))
        if own + shared > limit:
            return True
        # What a process shares stays in memory when it lets go of the pages, and nobody tells.
        return own + max(shared, grown) > limit and any(map(may_share_memory, proc_paths))

    def _has_too_many_files(self, processes: list[int]) -> bool:
        """Return whether memory fills with names of files, which its size does not limit."""
        for process in processes[-1:]:
            root = f"{memory_path(process)}/root"
            names = (_used_inodes(root, folder) for folder in self._tmpfs_folders)
            return sum(names) > self._limits.temporary_files
        return False

    def _has_exceeded_disk(self, processes: list[int]) -> bool:
        """Return whether too much was written; it is measured when there is reason to.

        That is less room, or, as others may make room meanwhile, much that was written.
        """
        limit, written = self._limits.disk_growth, sum(map(bytes_written, processes))
        lost_space = max(
            before - _free_bytes(folder)
            for before, folder in zip(self._free, self._folders, strict=True)
        )
        if lost_space <= self._loss_budget and written <= self._write_budget:
            return False
        grown = self._measure_growth(lost_space)
        self._write_budget = written + limit - grown
        self._loss_budget = lost_space + limit - grown  # what others take is not measured for ever
        return grown > limit

    def _measure_growth(self, lost_space: int) -> int:
        """Return the bytes on disk of what was changed since the start, deleted files too.

        Where something is hidden from us, that is taken for all that was *lost_space*.
        """
        total, is_complete = self._changed_bytes()
        deleted = self._deleted_files()
        total += sum((deleted or {}).values())
        return total if is_complete and deleted is not None else max(total, lost_space)

    def _changed_bytes(self) -> tuple[int, bool]:
        """Return the bytes on disk of what is there and was changed, and whether that is all.

        It stops beyond the limit, and when it takes so long that much more could be written.
        """
        total, is_complete = 0, True
        folders = [os.fspath(folder) for folder in self._folders]
        end = time.monotonic() + _MEASURE_SECONDS
        while folders and total <= self._limits.disk_growth:
            if time.monotonic() > end:
                return total, False
            folder = folders.pop()
            entries = list_entries(folder)
            is_complete &= entries is not None
            for entry in entries or ():
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{folder}/{entry.name}")
                if (status := _stat_or_none(entry)) and status.st_ctime >= self._started - 1:
                    total += status.st_blocks * _BLOCK
        return total, is_complete

    def _deleted_files(self) -> dict[int, int] | None:
        """Return the bytes on disk, by inode, of deleted files in use; None if that is hidden."""
        files: dict[int, int] = {}
        for process, _ in self._processes():
            open_deleted = deleted_files(process, self._devices)
            if open_deleted is None or has_mapped_deleted(memory_path(process), self._folders):
                return None
            files |= open_deleted
        return files


def _ps_table() -> dict[int, tuple[int, int]]:
    """Return the parent and the resident bytes of each process, where there is no /proc."""
    ps_output = subprocess.run(
        ["/bin/ps", "-axo", "pid=,ppid=,rss="], capture_output=True, check=False
    )
    rows = (list(map(int, line.split())) for line in ps_output.stdout.splitlines())
    return {process: (parent, resident * 1024) for process, parent, resident in rows}


def _free_bytes(folder: Path) -> int:
    """Return the bytes that are free on the disk of *folder*; no end of them when that is gone."""
    try:
        statistics = os.statvfs(folder)
    except OSError:
        return sys.maxsize
    return statistics.f_bavail * statistics.f_frsize


def _used_inodes(root: str, folder: Path) -> int:
    """Return how many files there are in the file system of *folder* below *root*.

    0 if it cannot be seen, or is still ours: a sandbox is being watched before its walls stand.
    """
    inside = f"{root}{folder}"
    try:
        if os.stat(root).st_dev == os.stat("/").st_dev:  # noqa: PTH116 - many times a second
            return 0
        statistics = os.statvfs(inside)
    except OSError:
        return 0
    return statistics.f_files - statistics.f_ffree


def _stat_or_none(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None
