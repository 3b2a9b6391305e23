"""Git's index, read by us: which files it names, and nothing that a stranger could put beside."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Set
from dataclasses import dataclass, replace

from modules.files.git.split_index import kept_and_replaced, shared_name
from utils.text.git_names import is_git_name

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
_CHECKSUM = 20  # bytes at the end
_EXTENDED, _STAGE, _LENGTH = 0x4000, 0x3000, 0x0FFF
_ASSUME_VALID = 0x8000
_PLAIN_PARTS = frozenset({b"TREE", b"REUC", b"EOIE", b"IEOT"})
_CACHES = frozenset({b"UNTR", b"FSMN"})
_LINK = b"link"
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
    """Return the entries of the index *content*, which is whole. Raises `BadIndex`.

    Without caches, one is refused that says which folders git need not look into.
    """
    parts = _PLAIN_PARTS | _CACHES if with_caches else _PLAIN_PARTS
    return _read(content, parts)[0]


def same_index(
    one: bytes, other: bytes, read_beside: Callable[[str], bytes | None] = lambda _: None
) -> bool:
    """Return whether two indexes name the same; what they know of times does not count.

    *read_beside* returns the file of a name beside them, for one that is split.
    """
    if one == other:
        return True
    try:
        return _read_any(one, read_beside) == _read_any(other, read_beside)
    except BadIndex:
        return False


def _read_any(content: bytes, read_beside: Callable[[str], bytes | None]) -> list[IndexEntry]:
    """Return the entries of the index *content*, with those in a file that it shares."""
    parts = _PLAIN_PARTS | _CACHES
    entries, link = _read(content, parts | {_LINK})
    if not (name := shared_name(link)):
        return entries
    shared, _ = _read(read_beside(name) or b"", parts)
    try:
        kept, replaced = kept_and_replaced(link, shared)
    except struct.error as error:
        raise BadIndex("it is cut off") from error
    if any(entry.name for entry in entries[: len(replaced)]):
        raise BadIndex("it is of another shared index")
    new = [replace(entry, name=old.name) for entry, old in zip(entries, replaced, strict=False)]
    added = entries[len(replaced) :]
    return sorted([*kept, *new, *added], key=lambda one: (one.name, one.flags & _STAGE))


def _read(content: bytes, parts: Set[bytes]) -> tuple[list[IndexEntry], bytes]:
    """Return the entries of *content*, which may have the *parts*, and what is in its link."""
    try:
        signature, version, count = _HEADER.unpack_from(content)
        if signature != b"DIRC" or version not in (2, 3, 4):
            raise BadIndex(f"its version is {version}")
        end = len(content) - _CHECKSUM
        checksum = content[end:]
        if checksum.strip(b"\0") and hashlib.sha1(content[:end]).digest() != checksum:  # noqa: S324 - git's own
            raise BadIndex("its checksum is wrong")
        entries, position = _entries(content, end, version, count, is_split=_LINK in parts)
        return entries, _check_parts(content, position, end, parts)
    except (struct.error, IndexError) as error:
        raise BadIndex("it is cut off") from error


def _entries(
    content: bytes, end: int, version: int, count: int, *, is_split: bool
) -> tuple[list[IndexEntry], int]:
    """Return *count* entries, and where they end; in one that is split the first have no name."""
    entries: list[IndexEntry] = []
    position, previous = _HEADER.size, b""
    last: tuple[bytes, int] = b"", -1
    for _ in range(count):
        entry, position = _entry(content, position, end, previous, version)
        previous = entry.name
        if not (is_split and not entry.name and last == (b"", -1)):
            _check_name(entry.name, entry.mode)
            if (key := (entry.name, entry.flags & _STAGE)) <= last:
                raise BadIndex("it is not sorted")
            last = key
        entries.append(entry)
    return entries, position


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


def _check_parts(content: bytes, position: int, end: int, known: Set[bytes]) -> bytes:
    """Refuse a part in which git would be told to look elsewhere, or that we do not know.

    Returns what is in the part that names a shared index.
    """
    link = b""
    while position < end:
        kind, size = struct.unpack_from(">4sI", content, position)
        if kind not in known:
            raise BadIndex(f"it has a part {kind!r}")
        if kind == _LINK:
            link = content[position + 8 : position + 8 + size]
        position += 8 + size
    if position != end:
        raise BadIndex("it is cut off")
    return link
