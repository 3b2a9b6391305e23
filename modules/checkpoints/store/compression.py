"""Compression of stored contents, where it pays; a byte before each says whether it is."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from hashlib import sha256
from typing import IO

CHUNK = 1 << 18


class UnreadableObject(Exception):
    """File of the person's that could not be read to its end."""


def compress(data: bytes) -> bytes:
    """Return *data* as it is kept: compressed where that pays."""
    compressed = zlib.compress(data, 1) if len(data) > 100 else data
    return b"z" + compressed if len(compressed) < len(data) else b"r" + data


def decompress(compressed: bytes) -> bytes:
    return zlib.decompress(compressed[1:]) if compressed[:1] == b"z" else compressed[1:]


def compress_stream(file: IO[bytes], out: IO[bytes]) -> tuple[str, int]:
    hasher, size = sha256(), 0
    chunk = _read_chunk(file)
    # What the first piece says of the rest decides: media and archives do not get smaller.
    compressor = zlib.compressobj(1) if len(zlib.compress(chunk, 1)) < 0.95 * len(chunk) else None
    out.write(b"z" if compressor else b"r")
    while chunk:
        hasher.update(chunk)
        size += len(chunk)
        out.write(compressor.compress(chunk) if compressor else chunk)
        chunk = _read_chunk(file)
    if compressor:
        out.write(compressor.flush())
    return hasher.hexdigest(), size


def decompress_chunks(decompressor: zlib._Decompress, compressed: bytes) -> Iterator[bytes]:
    """Yield what *compressed* holds, a chunk at a time: zeros shrink a thousandfold."""
    while compressed:
        yield decompressor.decompress(compressed, CHUNK)
        compressed = decompressor.unconsumed_tail
    while more := decompressor.decompress(b"", CHUNK):
        yield more


def _read_chunk(file: IO[bytes]) -> bytes:
    try:
        return file.read(CHUNK)
    except OSError as error:
        raise UnreadableObject from error
