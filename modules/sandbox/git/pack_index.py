"""Index of a pack of git: which objects are in that (Git, `gitformat-pack`)."""

from __future__ import annotations

import re
from typing import BinaryIO

_LOOSE = re.compile(r".*/([0-9a-f]{2})/([0-9a-f]{38})")
_MAGIC = b"\377tOc\0\0\0\2"
_TABLE = len(_MAGIC) + 256 * 4  # where the names begin
_NAME = 20  # bytes


def loose_id(path: str) -> bytes | None:
    """Return the name of the object that is the file *path*; None for other files."""
    match = _LOOSE.fullmatch(path)
    return bytes.fromhex(match[1] + match[2]) if match else None


def pack_ids(index: BinaryIO, most: int) -> frozenset[bytes]:
    """Return the names of the objects in the pack of *index*; none if they are more than *most*.

    Nor of one with names of another length, or of what is no index. Raises `OSError`.
    """
    head = index.read(_TABLE)
    count = int.from_bytes(head[-4:], "big")
    if not head.startswith(_MAGIC) or len(head) < _TABLE or count > most:
        return frozenset()
    offsets = index.seek(0, 2) - _TABLE - count * (_NAME + 8) - 2 * _NAME  # the long ones
    if not 0 <= offsets <= count * 8:
        return frozenset()
    index.seek(_TABLE)
    names = index.read(count * _NAME)
    return frozenset(names[at : at + _NAME] for at in range(0, len(names), _NAME))
