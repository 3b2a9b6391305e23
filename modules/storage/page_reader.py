"""Reader of a broken SQLite file: every row of every page that is whole.

Follows https://www.sqlite.org/fileformat2.html and trusts nothing: no index, no list of tables, no
free list; the write-ahead log is laid over the file first. Rows are told apart by their columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path

Value = None | int | float | str | bytes
Buffer = bytes | mmap
Row = tuple[int, list[Value]]
"""The rowid and the columns."""

_MAGIC = b"SQLite format 3\0"
_TABLE_LEAF = 0x0D
_FIXED_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8}
_MAX_ROW_BYTES = 1 << 30  # bytes of one row


class UnreadablePage(Exception):
    """Page bytes that are no row."""


def read_rows(data: Buffer, wal: Buffer = b"") -> Iterator[Row]:
    """Yield every row found in the file *data* with its write-ahead *wal*; never fails."""
    pages = _Pages(data, wal)
    for number in pages.numbers:
        yield from pages.rows_of(number)


@contextmanager
def map_file(path: Path) -> Iterator[Buffer]:
    """Give the content of the file, nothing where there is none, without reading all of it."""
    if not path.exists() or not path.stat().st_size:
        yield b""
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        yield content


class _Pages:
    """The pages of a file by their number, from 1."""

    def __init__(self, data: Buffer, wal: Buffer) -> None:
        self.size = _page_size(data, wal)
        self._data = data
        self._wal = wal
        self._wal_offsets = _wal_pages(wal, self.size)
        in_file = range(1, -(-len(data) // self.size) + 1)
        self.numbers = sorted({*in_file, *self._wal_offsets})

    def page(self, number: int) -> bytes:
        """Return the newest version of a page, b"" where there is none."""
        if (wal_offset := self._wal_offsets.get(number)) is not None:
            return self._wal[wal_offset : wal_offset + self.size]
        start = max(number - 1, 0) * self.size
        return self._data[start : start + self.size]

    def rows_of(self, number: int) -> Iterator[Row]:
        page = self.page(number)
        start = 100 if number == 1 else 0
        if len(page) < start + 8 or page[start] != _TABLE_LEAF:
            return
        for cell in range(min(_uint16(page, start + 3), (len(page) - start - 8) // 2)):
            try:
                yield self._row(page, _uint16(page, start + 8 + 2 * cell))
            except (UnreadablePage, IndexError, ValueError):
                continue

    def _row(self, page: bytes, offset: int) -> Row:
        length, offset = _varint(page, offset)
        rowid, offset = _varint(page, offset)
        if length > _MAX_ROW_BYTES:
            raise UnreadablePage
        return rowid, _decode_columns(self._payload(page, offset, length))

    def _payload(self, page: bytes, offset: int, length: int) -> bytes:
        local = _local_size(length, self.size)
        data = page[offset : offset + local]
        if local == length:
            return data
        parts, rest = [data], length - local
        next_page = int.from_bytes(page[offset + local : offset + local + 4])
        while rest > 0:
            more = self.page(next_page)
            if len(more) < 4:
                raise UnreadablePage
            parts.append(more[4 : 4 + rest])
            rest -= self.size - 4
            next_page = int.from_bytes(more[:4])
        whole = b"".join(parts)
        if len(whole) != length:
            raise UnreadablePage
        return whole


def _page_size(data: Buffer, wal: Buffer) -> int:
    declared = int.from_bytes(data[16:18]) if data[:16] == _MAGIC else 0
    size = 65_536 if declared == 1 else declared or int.from_bytes(wal[8:12])
    is_possible = 512 <= size <= 65_536 and size & (size - 1) == 0
    return size if is_possible else 4_096


def _wal_pages(wal: Buffer, size: int) -> dict[int, int]:
    """Return where in *wal* the newest version of each page of a whole transaction is."""
    pages: dict[int, int] = {}
    pending: dict[int, int] = {}
    salt = wal[16:24]
    for offset in range(32, len(wal) - 24 - size + 1, 24 + size):
        if wal[offset + 8 : offset + 16] != salt:
            break
        pending[int.from_bytes(wal[offset : offset + 4])] = offset + 24
        if int.from_bytes(wal[offset + 4 : offset + 8]):
            pages |= pending
            pending = {}
    return pages


def _local_size(length: int, usable: int) -> int:
    """Return how many bytes of a row of *length* are in its own page."""
    if length <= usable - 35:
        return length
    least = (usable - 12) * 32 // 255 - 23
    size = least + (length - least) % (usable - 4)
    return size if size <= usable - 35 else least


def _decode_columns(payload: bytes) -> list[Value]:
    end, offset = _varint(payload, 0)
    values: list[Value] = []
    value_offset = end
    while offset < end:
        kind, offset = _varint(payload, offset)
        size = (kind - 12) // 2 if kind >= 12 else _FIXED_SIZES.get(kind, 0)
        part = payload[value_offset : value_offset + size]
        if len(part) != size:
            raise UnreadablePage
        values.append(_decode_value(kind, part))
        value_offset += size
    return values


def _decode_value(kind: int, part: bytes) -> Value:
    import struct

    match kind:
        case 0:
            return None
        case 7:
            return float(struct.unpack(">d", part)[0])
        case 8 | 9:
            return kind - 8
        case _ if kind < 7:
            return int.from_bytes(part, signed=True)
        case _ if kind < 12:
            raise UnreadablePage
        case _:
            return part.decode() if kind % 2 else part


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return the number at *offset* and where it ends."""
    value = 0
    for index in range(offset, offset + 8):
        value = value << 7 | data[index] & 0x7F
        if data[index] < 0x80:
            return value, index + 1
    return value << 8 | data[offset + 8], offset + 9


def _uint16(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 2])
