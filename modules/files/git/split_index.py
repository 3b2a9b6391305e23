"""Git's index where it is split in two (`core.splitIndex`): a shared file with most of it, and one
with what is different, whose part `link` says what of the shared one counts.

The format is `Documentation/gitformat-index.txt` of git, *Split index*; its bitmaps are those of
EWAH, by 64 bits.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import compress
from typing import TypeVar

_SIZES = struct.Struct(">II")  # bits, words of 64 bits
_WORD = struct.Struct(">Q")
_WORD_BITS = 64
_LAST = 4  # bytes behind the words: where the last marker is
HASH = 20  # bytes of the name of the shared file
_Entry = TypeVar("_Entry")


def shared_name(link: bytes) -> str:
    """Return the name of the shared file that the part *link* names; "" if there is none."""
    return f"sharedindex.{link[:HASH].hex()}" if any(link[:HASH]) else ""


def kept_and_replaced(link: bytes, shared: Sequence[_Entry]) -> tuple[list[_Entry], list[_Entry]]:
    """Return the entries of *shared* that stay as they are, and those in whose place the first
    entries of the index are, by the bitmaps in the part *link*. The rest is gone.

    Raises `struct.error` for what is cut off.
    """
    if len(link) <= HASH:  # no bitmaps: nothing is different
        return list(shared), []
    deleted, position = _bits(link, HASH, len(shared))
    replaced, _ = _bits(link, position, len(shared))
    kept = [not (gone or other) for gone, other in zip(deleted, replaced, strict=True)]
    return list(compress(shared, kept)), list(compress(shared, replaced))


def _bits(content: bytes, start: int, wanted: int) -> tuple[list[bool], int]:
    """Return *wanted* bits of the bitmap at *start*, and where it ends."""
    _, count = _SIZES.unpack_from(content, start)
    position = start + _SIZES.size
    end = position + count * _WORD.size
    bits: list[bool] = []
    while position < end and len(bits) < wanted:
        (marker,) = _WORD.unpack_from(content, position)
        position += _WORD.size
        run = (marker >> 1 & 0xFFFFFFFF) * _WORD_BITS
        bits += [bool(marker & 1)] * min(run, wanted - len(bits))
        for _ in range(marker >> 33):
            (word,) = _WORD.unpack_from(content, position)
            position += _WORD.size
            bits += [bool(word >> n & 1) for n in range(min(_WORD_BITS, wanted - len(bits)))]
    bits += [False] * (wanted - len(bits))
    return bits, end + _LAST
