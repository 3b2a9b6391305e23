"""How contents are kept: compressed where that pays, a byte before them saying which it is."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import IO

CHUNK = 1 << 18


class UnreadableObject(Exception):
    """A file of the person's could not be read to its end."""


def pack(data: bytes) -> bytes:
    """Return *data* as it is kept: compressed where that pays."""
    packed = zlib.compress(data, 1) if len(data) > 100 else data
    return b"z" + packed if len(packed) < len(data) else b"r" + data


def unpack(packed: bytes) -> bytes:
    return zlib.decompress(packed[1:]) if packed[:1] == b"z" else packed[1:]


def copy_packed(file: IO[bytes], out: IO[bytes]) -> tuple[str, int]:
    check, size = sha256(), 0
    chunk = _piece(file)
    # What the first piece says of the rest decides: media and archives do not get smaller.
    zipper = zlib.compressobj(1) if len(zlib.compress(chunk, 1)) < 0.95 * len(chunk) else None
    out.write(b"z" if zipper else b"r")
    while chunk:
        check.update(chunk)
        size += len(chunk)
        out.write(zipper.compress(chunk) if zipper else chunk)
        chunk = _piece(file)
    if zipper:
        out.write(zipper.flush())
    return check.hexdigest(), size


def unzipped(unzip: zlib._Decompress, piece: bytes) -> Iterator[bytes]:
    """Yield what *piece* holds, a chunk at a time: zeros shrink a thousandfold."""
    while piece:
        yield unzip.decompress(piece, CHUNK)
        piece = unzip.unconsumed_tail
    while more := unzip.decompress(b"", CHUNK):
        yield more


def _piece(file: IO[bytes]) -> bytes:
    try:
        return file.read(CHUNK)
    except OSError as error:
        raise UnreadableObject from error
