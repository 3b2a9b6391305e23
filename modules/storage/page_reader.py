"""What can still be read of a broken SQLite file: every row that a whole page of it holds.

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
_LEAF = 0x0D
_FIXED = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8}
_MOST = 1 << 30  # bytes of one row


class UnreadablePage(Exception):
    """These bytes are no row."""


def rows(data: Buffer, log: Buffer = b"") -> Iterator[Row]:
    """Yield every row found in the file *data* with its write-ahead *log*; never fails."""
    pages = _Pages(data, log)
    for number in pages.numbers:
        yield from pages.rows_of(number)


@contextmanager
def mapped(path: Path) -> Iterator[Buffer]:
    """Give the content of the file, nothing where there is none, without reading all of it."""
    if not path.exists() or not path.stat().st_size:
        yield b""
        return
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        yield content


class _Pages:
    """The pages of a file by their number, from 1."""

    def __init__(self, data: Buffer, log: Buffer) -> None:
        self.size = _page_size(data, log)
        self._data = data
        self._log = log
        self._logged = _logged(log, self.size)
        in_file = range(1, -(-len(data) // self.size) + 1)
        self.numbers = sorted({*in_file, *self._logged})

    def page(self, number: int) -> bytes:
        """Return the newest version of a page, b"" where there is none."""
        if (place := self._logged.get(number)) is not None:
            return self._log[place : place + self.size]
        start = max(number - 1, 0) * self.size
        return self._data[start : start + self.size]

    def rows_of(self, number: int) -> Iterator[Row]:
        page = self.page(number)
        start = 100 if number == 1 else 0
        if len(page) < start + 8 or page[start] != _LEAF:
            return
        for cell in range(min(_short(page, start + 3), (len(page) - start - 8) // 2)):
            try:
                yield self._row(page, _short(page, start + 8 + 2 * cell))
            except (UnreadablePage, IndexError, ValueError):
                continue

    def _row(self, page: bytes, at: int) -> Row:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at)
        if length > _MOST:
            raise UnreadablePage
        return rowid, _columns(self._payload(page, at, length))

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        local = _local_size(length, self.size)
        data = page[at : at + local]
        if local == length:
            return data
        parts, rest = [data], length - local
        following = int.from_bytes(page[at + local : at + local + 4])
        while rest > 0:
            more = self.page(following)
            if len(more) < 4:
                raise UnreadablePage
            parts.append(more[4 : 4 + rest])
            rest -= self.size - 4
            following = int.from_bytes(more[:4])
        whole = b"".join(parts)
        if len(whole) != length:
            raise UnreadablePage
        return whole


def _page_size(data: Buffer, log: Buffer) -> int:
    told = int.from_bytes(data[16:18]) if data[:16] == _MAGIC else 0
    size = 65_536 if told == 1 else told or int.from_bytes(log[8:12])
    is_possible = 512 <= size <= 65_536 and size & (size - 1) == 0
    return size if is_possible else 4_096


def _logged(log: Buffer, size: int) -> dict[int, int]:
    """Return where in *log* the newest version of each page of a whole transaction is."""
    pages: dict[int, int] = {}
    pending: dict[int, int] = {}
    salt = log[16:24]
    for at in range(32, len(log) - 24 - size + 1, 24 + size):
        if log[at + 8 : at + 16] != salt:
            break
        pending[int.from_bytes(log[at : at + 4])] = at + 24
        if int.from_bytes(log[at + 4 : at + 8]):
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


def _columns(payload: bytes) -> list[Value]:
    end, at = _varint(payload, 0)
    values: list[Value] = []
    place = end
    while at < end:
        kind, at = _varint(payload, at)
        size = (kind - 12) // 2 if kind >= 12 else _FIXED.get(kind, 0)
        part = payload[place : place + size]
        if len(part) != size:
            raise UnreadablePage
        values.append(_value(kind, part))
        place += size
    return values


def _value(kind: int, part: bytes) -> Value:
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


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at *at* and where it ends."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9


def _short(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2])
