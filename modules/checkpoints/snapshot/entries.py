"""Entries of a snapshot: one `Entry` for every file, link and folder."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import NamedTuple
from zlib import crc32

from utils.i18n import Phrase, phrase

Entries = dict[str, "Entry"]
"""The entries of one folder by name, or of several folders by path."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_SPLIT_ABOVE = 400  # entries; longer ones are kept in parts, so that one change rewrites one part


class Entry(NamedTuple):
    """A file, link or folder as it was; *mode* is the whole `st_mode`, *size* in bytes.

    *content* is the SHA-256 of a file, the target of a link, the digest of a folder's entries. It
    is empty where *not_stored_reason* (a key of `REASONS`) says why the content is not held.
    *links* counts the names of a file. Folders have no size and no ctime here: neither tells what
    is in them. *metadata* are its owner and attributes; see `metadata`.
    """

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    content: str = ""
    not_stored_reason: str = ""
    links: int = 1
    metadata: str = ""

    @property
    def git_state(self) -> Entry | None:
        """Of a repository the folder that holds its state, to be walked like any; else None.

        For all else what git keeps is one thing that is not held.
        """
        if self.not_stored_reason != "git" or not self.content:
            return None
        return self._replace(not_stored_reason="")

    @property
    def is_folder(self) -> bool:
        """Whether its entries are known; a folder that is not held is not one of these."""
        return stat.S_ISDIR(self.mode) and not self.not_stored_reason

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode) and not self.not_stored_reason

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def is_node(self) -> bool:
        """Whether there is nothing in it to hold: a pipe, a socket, the mark of a removed file."""
        kinds = (stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR)
        return stat.S_IFMT(self.mode) in kinds and not self.not_stored_reason

    @property
    def as_row(self) -> tuple[object, ...]:
        """Values to store, which `Entry` takes again; without the metadata where there is none."""
        return self if self.metadata else self[:-1]

    @property
    def identity(self) -> tuple[int, int]:
        return self.device, self.inode


REASONS: dict[str, Phrase] = {
    "large": phrase("larger than the checkpoint limit for one file"),
    "full": phrase("the checkpoint space is full"),
    "room": phrase("not enough disk space to save it"),
    "unreadable": phrase("cannot be read"),
    "unsteady": phrase("kept changing while it was read"),
    "special": phrase("a device"),
    "deep": phrase("nested too deep"),
    "git": phrase("git's own data is never changed"),
    "ours": phrase("Onefold and its data are never changed"),
}

GIT = ".git"
"""Path of the repository whose state is held, beside the files of the project."""

LINKED_GIT = f"{GIT}/"
"""The same of one elsewhere, to which the file `.git` of a linked work tree leads: no path."""

EXPECTED_REASONS = frozenset({"git", "ours"})
"""Reasons of which nobody needs to be warned."""


def same_entry(one: Entry | None, other: Entry | None) -> bool:
    """Return whether nothing that an undo would restore differs between the two."""
    if one is None or other is None:
        return one is other
    return same_except_mtime(one, other) and one.mtime_ns == other.mtime_ns


def same_except_mtime(one: Entry | None, other: Entry | None) -> bool:
    """Return whether the two look the same to a person; times do not count."""
    if one is None or other is None:
        return one is other
    is_kept = one.mode == other.mode and one.metadata == other.metadata
    return is_kept and same_content(one, other)


def same_content(one: Entry, other: Entry) -> bool:
    """Return whether both have the same kind and content; folders count as equal here.

    Content that is not held is the same when it is the same file that was not written since.
    """
    if stat.S_IFMT(one.mode) != stat.S_IFMT(other.mode):
        return False
    if one.not_stored_reason or other.not_stored_reason:
        is_unwritten = one.size == other.size and one.mtime_ns == other.mtime_ns
        return one.identity == other.identity and is_unwritten
    return one.is_folder or one.content == other.content


def is_folder(entry: Entry | None) -> bool:
    """Return whether it is a folder, be what is in it known or not."""
    return entry is not None and stat.S_ISDIR(entry.mode)


def is_relinked(one: Entry, other: Entry) -> bool:
    """Return whether two files, alike for the rest, may be names of different files."""
    return one.is_file and one.identity != other.identity and max(one.links, other.links) > 1


def is_node(status: os.stat_result) -> bool:
    """Return whether it is a pipe, a socket, or what overlays leave where a file was removed.

    That last one is a device of number 0, which anybody can make; devices of hardware are not.
    """
    is_mark = stat.S_ISCHR(status.st_mode) and status.st_rdev == 0
    return is_mark or stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)


def entry_of(status: os.stat_result, *, content: str = "", why: str = "") -> Entry:
    return Entry(*stat_signature(status), content, why, status.st_nlink)


def folder_entry_of(status: os.stat_result) -> Entry:
    return Entry(status.st_mode, 0, status.st_mtime_ns, 0, status.st_ino, status.st_dev)


def stat_signature(status: os.stat_result) -> tuple[int, int, int, int, int, int]:
    return (
        status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
        status.st_ino, status.st_dev,
    )  # fmt: skip


def join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]


def encode(entries: Entries) -> list[bytes]:
    """Return the bytes to keep for a folder: its whole list last, and before it any parts.

    Each is stored under its `digest`; equal folders have equal bytes.
    """
    names = sorted(entries)
    if len(names) <= _SPLIT_ABOVE:
        return [_dump([[name, *entries[name].as_row] for name in names])]
    parts = [
        _dump([[name, *entries[name].as_row] for name in part]) for part in _split_by_hash(names)
    ]
    return [*parts, _dump({"parts": [digest(part) for part in parts]})]


def decode(data: bytes, load: Callable[[str], bytes]) -> Entries:
    """Return the entries that `encode` wrote; *load* gives the bytes of a part by its digest."""
    decoded = json.loads(data)
    if isinstance(decoded, dict):
        rows = [row for part in decoded["parts"] for row in json.loads(load(part))]
    else:
        rows = decoded
    return {row[0]: Entry(*row[1:]) for row in rows}


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def is_digest(text: str) -> bool:
    return _DIGEST.fullmatch(text) is not None


def _dump(plain: object) -> bytes:
    return json.dumps(plain, separators=(",", ":")).encode()


def _split_by_hash(names: list[str]) -> Iterator[list[str]]:
    """Cut *names* where the names themselves say so, so that a new name moves no other cut."""
    chunk: list[str] = []
    for name in names:
        chunk.append(name)
        if crc32(name.encode(errors="surrogateescape")) % 128 == 0:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
