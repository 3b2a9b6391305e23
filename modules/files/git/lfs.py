"""Git LFS without its program: the pointers that git holds, and the contents that they name.

A content lies in the folder `lfs/objects` of the repository, and its name is its SHA-256: so one
that anybody has made can be taken over once it was read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

OBJECTS = "lfs/objects"
FILTER = "lfs"
"""Its name among the filters of git's attributes."""
MAX_POINTER = 1_024  # bytes
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(ext-[^\n]+\n)*"
    rb"oid sha256:(?P<name>[0-9a-f]{64})\nsize (?P<size>\d{1,18})\n"
)
_NAME, _PREFIX = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{2}")
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_OBJECTS = 20_000


@dataclass(frozen=True, slots=True)
class Pointer:
    """What git holds in the place of a content of *size* bytes, whose SHA-256 is *name*."""

    name: str
    size: int


def pointer_in(content: bytes) -> Pointer | None:
    """Return the pointer that *content* is, None if it is none."""
    match = _POINTER.fullmatch(content) if len(content) <= MAX_POINTER else None
    return Pointer(match["name"].decode(), int(match["size"])) if match else None


def is_pointer_file(path: Path) -> bool:
    """Return whether the plain file *path* is a pointer."""
    try:
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return is_file and pointer_in(file.read(MAX_POINTER + 1)) is not None
    except OSError:
        return False


def object_path(repository: Path, name: str) -> Path:
    return repository / OBJECTS / name[:2] / name[2:4] / name


def read_object(repository: Path, pointer: Pointer, limit: int) -> bytes | None:
    """Return the content of *pointer* in *repository*; None if it has more than *limit* bytes.

    What cannot be read is empty.
    """
    if pointer.size > limit:
        return None
    try:
        with os.fdopen(os.open(object_path(repository, pointer.name), _FLAGS), "rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(limit + 1) if is_file else b""
    except OSError:
        return b""
    return data if len(data) <= limit else None


def copy_objects(names: Iterable[str], source: Path, repository: Path) -> list[str]:
    """Copy the contents *names* of the repository *source* to *repository*; return those that are
    not what they are called or are missing, which are left. Raises `OSError` as `take_objects`.
    """
    paths = ((name, object_path(repository, name)) for name in names)
    return [
        name
        for name, target in paths
        if not target.exists() and not _take(object_path(source, name), target, repository)
    ]


def take_objects(source: Path, repository: Path) -> list[str]:
    """Copy the contents in the repository *source*, a folder that anybody may have written to, to
    *repository*; return the names of those that are not what they are called, which are left.

    Raises `OSError`, also where a link stands on the way in *repository*.
    """
    wrong: list[str] = []
    if (source / OBJECTS).parent.is_symlink():
        return wrong
    for name in _object_names(source / OBJECTS):
        target = object_path(repository, name)
        if not target.exists() and not _take(object_path(source, name), target, repository):
            wrong.append(name)
    return wrong


def _object_names(objects: Path) -> Iterator[str]:
    """Yield the names of what lies in the folder *objects* as contents do."""
    found = 0
    for first in _names(objects, _PREFIX):
        for second in _names(objects / first, _PREFIX):
            for name in _names(objects / first / second, _NAME):
                found += 1
                if found > _MAX_OBJECTS:
                    return
                if name.startswith(first + second):
                    yield name


def _names(folder: Path, pattern: re.Pattern[str]) -> list[str]:
    """Return the names in *folder* like *pattern*; none where it is no folder, or a link."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if pattern.fullmatch(entry.name))


def _take(source: Path, target: Path, repository: Path) -> bool:
    """Make *target* a copy of *source*, all of it or nothing; return whether that is its name."""
    try:
        descriptor = os.open(source, _FLAGS)
    except OSError:  # a link, or locked
        return False
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        _make_folders(repository, target.parent)
        temporary = target.with_name(f".{target.name}.tmp")
        temporary.unlink(missing_ok=True)
        try:
            digest = sha256()
            with temporary.open("xb") as out:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
            if digest.hexdigest() != target.name:
                return False
            temporary.chmod(0o444)
            temporary.rename(target)
            return True
        finally:
            temporary.unlink(missing_ok=True)


def _make_folders(repository: Path, folder: Path) -> None:
    """Make *folder* in *repository*, following no link."""
    for one in reversed([folder, *folder.parents]):
        if repository in one.parents:
            if one.is_symlink():
                raise NotADirectoryError(os.fspath(one))
            one.mkdir(exist_ok=True)
