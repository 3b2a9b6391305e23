"""Facts on processes from /proc; one that ends while we look counts as nothing.

A process whose first thread has ended is told of by its other threads only, and one that has asked
for that (PR_SET_DUMPABLE) hides much from its own user.
"""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from modules.sandbox.filesystem.folders import list_entries

_PAGE = resource.getpagesize()
_SHARED_MEMORY = "/dev/zero (deleted)"
"""Name of shared anonymous memory in /proc/PID/maps."""


def threads_of(process: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{process}/task")  # noqa: PTH208 - names only, many times a second
    except OSError:
        return []


def children_of(process: int, threads: Sequence[str]) -> Iterator[int]:
    """Yield the children of the *threads* of *process*, where the kernel lists them."""
    for thread in threads:
        yield from map(int, read_proc(f"/proc/{process}/task/{thread}/children").split())


def children_by_parent() -> dict[int, list[int]]:
    """Return the children by parent, where the kernel does not list them (CONFIG_PROC_CHILDREN)."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208
        fields = read_proc(f"/proc/{name}/stat").rpartition(")")[2].split()
        if fields:
            children.setdefault(int(fields[1]), []).append(int(name))
    return children


def memory_path(process: int) -> str:
    """Return the folder that tells of the memory of *process*: that of a thread which lives."""
    proc_path = f"/proc/{process}"
    if resident_bytes(proc_path):
        return proc_path
    others = (f"{proc_path}/task/{thread}" for thread in threads_of(process))
    return next(filter(resident_bytes, others), proc_path)


def resident_bytes(proc_path: str) -> int:
    """Return the bytes in memory of the process at *proc_path*."""
    fields = read_proc(f"{proc_path}/statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def proportional_bytes(proc_path: str) -> tuple[int, int]:
    """Return the same with shared pages divided among those who share them.

    First those of its own and of files, then those without a file; where that is hidden, it is
    taken for the only one who has them.
    """
    found = {}
    for line in read_proc(f"{proc_path}/smaps_rollup").splitlines():
        name, _, rest = line.partition(":")
        if name in ("Pss", "Pss_Shmem"):
            found[name] = int(rest.split()[0]) * 1024
    if "Pss" not in found:
        return resident_bytes(proc_path), 0
    shared = found.get("Pss_Shmem", 0)
    return found["Pss"] - shared, shared


def system_shmem() -> int:
    """Return the bytes that all processes of the machine share without a file on a disk."""
    for line in read_proc("/proc/meminfo").splitlines():
        if line.startswith("Shmem:"):
            return int(line.split()[1]) * 1024
    return 0


def may_share_memory(proc_path: str) -> bool:
    """Return whether the process at *proc_path* shares memory without a file, or hides that.

    One that has ended, and waits for its parent to learn of it, has none.
    """
    maps = read_proc(f"{proc_path}/maps")
    return _SHARED_MEMORY in maps if maps else resident_bytes(proc_path) > 0


def bytes_written(process: int) -> int:
    """Return the bytes that *process*, and the children that it saw end, have written to disks."""
    lines = read_proc(f"/proc/{process}/io").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("write_bytes:")), 0)


def deleted_files(process: int, devices: Collection[int]) -> dict[int, int] | None:
    """Return the bytes on disk, by inode, of deleted files on *devices* that *process* has open.

    None if that is hidden, or if files are under way between processes.
    """
    found: dict[int, int] = {}
    for thread in threads_of(process):
        proc_path = f"/proc/{process}/task/{thread}"
        entries = list_entries(f"{proc_path}/fd")
        if entries is None:
            return None
        for entry in entries:
            try:
                file = entry.stat()
            except OSError:
                continue
            if stat.S_ISSOCK(file.st_mode) and _carries_descriptors(
                f"{proc_path}/fdinfo/{entry.name}"
            ):
                return None
            if file.st_nlink == 0 and file.st_dev in devices and stat.S_ISREG(file.st_mode):
                found[file.st_ino] = file.st_blocks * 512
    return found


def _carries_descriptors(fdinfo: str) -> bool:
    """Return whether files wait in the socket that the kernel tells *fdinfo*."""
    lines = (line.split() for line in read_proc(fdinfo).splitlines())
    return any(line[0] == "scm_fds:" and line[1] != "0" for line in lines if len(line) == 2)


def has_mapped_deleted(proc_path: str, folders: Collection[Path]) -> bool:
    """Return whether the process at *proc_path* has a deleted file of *folders* in its memory."""
    beginnings = tuple(f"{folder}/".replace("\n", "\\012") for folder in folders)
    for line in read_proc(f"{proc_path}/maps").splitlines():
        if line.endswith(" (deleted)") and line.split(None, 5)[-1].startswith(beginnings):
            return True
    return False


def read_proc(path: str) -> str:
    try:
        with open(path, errors="surrogateescape") as file:  # noqa: PTH123 - many times a second
            return file.read()
    except OSError:
        return ""
