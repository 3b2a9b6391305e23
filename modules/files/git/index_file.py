"""Git's index, read by us: which files it names, and nothing that a stranger could put beside."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator, Set
from dataclasses import dataclass

from utils.text.git_names import is_git_name

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
_CHECKSUM = 20  # bytes at the end
_EXTENDED, _STAGE, _LENGTH = 0x4000, 0x3000, 0x0FFF
_ASSUME_VALID = 0x8000
_PLAIN_PARTS = frozenset({b"TREE", b"REUC", b"EOIE", b"IEOT"})
_CACHES = frozenset({b"UNTR", b"FSMN"})
_MODES = frozenset({0o100644, 0o100755, 0o120000, 0o160000})
_GITLINK = 0o160000
_LEADS_ELSEWHERE = re.compile(rb"(?:^|/)\.{0,2}(?:/|$)")
_MAY_BE_GIT = re.compile(rb"g[^/]*i[^/]*t", re.IGNORECASE)


class BadIndex(ValueError):
    """An index that git does not write, or of a kind that is not taken."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A file of the index; *flags* are its stage and what it is excepted from."""

    name: bytes
    mode: int
    object_id: str
    flags: int

    @property
    def is_submodule(self) -> bool:
        return self.mode == _GITLINK


def read_index(content: bytes, *, with_caches: bool = True) -> list[IndexEntry]:
    """Return the entries of the index *content*. Raises `BadIndex`.

    Without caches, one is refused that says which folders git need not look into.
    """
    parts = _PLAIN_PARTS | _CACHES if with_caches else _PLAIN_PARTS
    try:
        return list(_entries(content, parts))
    except (struct.error, IndexError) as error:
        raise BadIndex("it is cut off") from error


def same_index(one: bytes, other: bytes) -> bool:
    """Return whether two indexes name the same; what they know of times does not count."""
    if one == other:
        return True
    try:
        return read_index(one) == read_index(other)
    except BadIndex:
        return False


def _entries(content: bytes, parts: Set[bytes]) -> Iterator[IndexEntry]:
    signature, version, count = _HEADER.unpack_from(content)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise BadIndex(f"its version is {version}")
    end = len(content) - _CHECKSUM
    checksum = content[end:]
    if checksum.strip(b"\0") and hashlib.sha1(content[:end]).digest() != checksum:  # noqa: S324 - git's own
        raise BadIndex("its checksum is wrong")
    position, previous = _HEADER.size, b""
    last: tuple[bytes, int] = b"", -1
    for _ in range(count):
        entry, position = _entry(content, position, end, previous, version)
        previous = entry.name
        if (key := (entry.name, entry.flags & _STAGE)) <= last:
            raise BadIndex("it is not sorted")
        last = key
        yield entry
    _check_parts(content, position, end, parts)


def _entry(
    content: bytes, start: int, end: int, previous: bytes, version: int
) -> tuple[IndexEntry, int]:
    """Return the entry at *start*, and where the next one begins."""
    values = _ENTRY.unpack_from(content, start)
    mode, object_id, flags = values[6], values[10], values[11]
    position = start + _ENTRY.size
    more = 0
    if flags & _EXTENDED:
        (more,) = struct.unpack_from(">H", content, position)
        position += 2
    prefix = b""
    if version == 4:
        removed, position = _number(content, position)
        if removed > len(previous):
            raise BadIndex("a name is too short")
        prefix = previous[: len(previous) - removed]
    if (name_end := content.find(b"\0", position, end)) < 0:
        raise BadIndex("a name has no end")
    name = prefix + content[position:name_end]
    next_start = name_end + 1
    if version != 4:
        next_start = start + ((name_end - start) // 8 + 1) * 8
    _check_name(name, mode)
    kept = (flags & (_STAGE | _ASSUME_VALID)) | (more & 0x6000) << 16
    return IndexEntry(name, mode, object_id.hex(), kept), next_start


def _number(content: bytes, position: int) -> tuple[int, int]:
    """Return the number at *position*, as git writes those of any size, and where it ends."""
    byte = content[position]
    value = byte & 0x7F
    while byte & 0x80:
        position += 1
        byte = content[position]
        value = (value + 1) << 7 | (byte & 0x7F)
    return value, position + 1


def _check_name(name: bytes, mode: int) -> None:
    if mode not in _MODES:
        raise BadIndex(f"{name[:100]!r} has the mode {mode:o}")
    if _LEADS_ELSEWHERE.search(name) or (_MAY_BE_GIT.search(name) and _is_in_git_folder(name)):
        raise BadIndex(f"it names {name[:100]!r}")


def _is_in_git_folder(name: bytes) -> bool:
    return any(is_git_name(part.decode("utf-8", "replace")) for part in name.split(b"/"))


def _check_parts(content: bytes, position: int, end: int, known: Set[bytes]) -> None:
    """Refuse a part in which git would be told to look elsewhere, or that we do not know."""
    while position < end:
        kind, size = struct.unpack_from(">4sI", content, position)
        if kind not in known:
            raise BadIndex(f"it has a part {kind!r}")
        position += 8 + size
    if position != end:
        raise BadIndex("it is cut off")
