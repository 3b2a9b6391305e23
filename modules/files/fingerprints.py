"""Fingerprints by which a file is recognised after it was renamed, edited or replaced."""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping

from core.tools import ToolError
from modules.files.project import Project
from utils.frozen import frozen

Stat = os.stat_result

_MAX_SKETCHED_BYTES = 200_000  # bytes of a file that its sketch is made of
_SKETCH_SIZE = 32
_MIN_SIMILARITY = 0.4
_MAX_FILES = 20_000
_CLOCK_TOLERANCE = 0.05  # seconds that a file system's clock may lag behind ours


@frozen
class Fingerprint:
    """Fingerprint of a file when last seen; *modified* in nanoseconds since the epoch.

    *digest* is of the content, empty where that could not be read; *sketch* holds the smallest
    checksums of its lines, so that the share two sketches have in common is about the share of
    lines the files have in common (Broder's min-wise sampling).
    """

    device: int
    inode: int
    size: int
    modified: int
    digest: str = ""
    sketch: tuple[int, ...] = ()

    @classmethod
    def of(cls, project: Project, path: str) -> Fingerprint | None:
        """Return the fingerprint of the regular file *path*, None where there is none."""
        status = stat_or_none(project, path)
        if status is None or not stat.S_ISREG(status.st_mode):
            return None
        identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        try:
            data = project.read_bytes(path)
        except ToolError:
            return cls(*identity)
        return cls(*identity, hashlib.sha256(data).hexdigest(), _sketch(data))

    def is_same_inode(self, other: Fingerprint) -> bool:
        return (self.device, self.inode) == (other.device, other.inode)

    def is_unchanged(self, status: Stat) -> bool:
        return self.has_inode(status) and (self.size, self.modified) == (
            status.st_size,
            status.st_mtime_ns,
        )

    def has_inode(self, status: Stat) -> bool:
        return (self.device, self.inode) == (status.st_dev, status.st_ino)

    def is_similar(self, other: Fingerprint) -> bool:
        """Return whether the contents are equal or one is an edited version of the other."""
        if self.digest and self.digest == other.digest:
            return True
        merged = sorted({*self.sketch, *other.sketch})[:_SKETCH_SIZE]
        common = sum(line in self.sketch and line in other.sketch for line in merged)
        return bool(merged) and common / len(merged) >= _MIN_SIMILARITY


def _sketch(data: bytes) -> tuple[int, ...]:
    lines = {line.strip() for line in data[:_MAX_SKETCHED_BYTES].splitlines()} - {b""}
    return tuple(sorted({zlib.crc32(line) for line in lines})[:_SKETCH_SIZE])


def stat_or_none(project: Project, path: str) -> Stat | None:
    """Return the state of *path*, None where it is missing or out of reach."""
    try:
        return project.stat(path)
    except ToolError:
        return None


def find_moved(
    project: Project, missing: Mapping[str, Fingerprint], *, taken: Collection[str], since: float
) -> dict[str, str]:
    """Return the new paths of files that are no longer at their old ones, by old path.

    No new path is given out twice, and none of *taken*. *since* (seconds since the epoch) is when
    the files were last known in place. An inode alone proves nothing: file systems give it out
    again at once, so the content must be kin. Equal content alone proves nothing either, unless it
    came to its place since then: copies are common. Looks at 20,000 files at most.
    """
    if not missing:
        return {}
    stats = dict(_stats(project, taken))
    new_paths: dict[str, str] = {}
    # An inode is the better proof: every file has a chance to be found by it first.
    for path, file in missing.items():
        if match := _by_inode(project, file, _nearest_first(path, stats)):
            new_paths[path] = match
            del stats[match]
    recent = {
        path: status
        for path, status in stats.items()
        if status.st_ctime >= since - _CLOCK_TOLERANCE
    }
    for path, file in missing.items():
        if path in new_paths or stat_or_none(project, path) is not None:
            continue
        if match := _by_content(project, file, _nearest_first(path, recent)):
            new_paths[path] = match
            del recent[match]
    return new_paths


def _stats(project: Project, taken: Collection[str]) -> Iterator[tuple[str, Stat]]:
    try:
        paths = project.files()[:_MAX_FILES]
    except ToolError:  # a folder that cannot be listed now
        return
    for path in paths:
        if (
            path not in taken
            and (status := stat_or_none(project, path))
            and stat.S_ISREG(status.st_mode)
        ):
            yield path, status


def _nearest_first(path: str, stats: Mapping[str, Stat]) -> list[tuple[str, Stat]]:
    """Return the items of *stats*, those of files that are called like *path* first."""
    name = path.rpartition("/")[2]
    return sorted(stats.items(), key=lambda item: item[0].rpartition("/")[2] != name)


def _by_inode(project: Project, file: Fingerprint, stats: Iterable[tuple[str, Stat]]) -> str:
    """Return the path of *file*'s inode, if it still holds *file*; else ""."""
    for path, status in stats:
        if file.is_unchanged(status):
            return path
        if file.size and file.has_inode(status):
            now = Fingerprint.of(project, path)
            if now and file.is_similar(now):
                return path
    return ""


def _by_content(project: Project, file: Fingerprint, stats: Iterable[tuple[str, Stat]]) -> str:
    """Return the path of a file with the content of *file*, if that has any; else ""."""
    for path, status in stats:
        if not file.size or status.st_size != file.size:
            continue
        now = Fingerprint.of(project, path)
        if now and file.digest and now.digest == file.digest:
            return path
    return ""
