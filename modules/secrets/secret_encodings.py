"""Every form in which a secret may be seen in a text, and finding them all at once."""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote, unquote

from utils.text.keys import MIN_SECRET_LENGTH

_PIECE_LENGTH = 512  # characters that are looked for in one piece
_ESCAPES = (("%", "x"), ("%", "X"), ("\\x", "x"), ("\\u00", "x"))
_LINE_BREAK = re.compile(r"\r?\n[ \t]*")
# What is repeated is bounded, and begins where a word does: else long words would take forever.
_SPACED_HEX = re.compile(
    r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}[ :,\r\n]{1,3}){7,}[0-9A-Fa-f]{2}(?![0-9A-Fa-f])"
)
"""Hex, byte by byte."""


Hit = tuple[int, str, str]
"""Offset of a form, the form, and its name."""


class SecretMatcher:
    """Matcher of values by name, also written backwards, in base64, hex, JSON or URLs.

    Searching a text takes a time that does not depend on how many there are.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # by form
        self._by_head: dict[str, list[int]] = {}
        """Lengths of the forms that begin with these characters, longest first."""
        self._sorted: list[str] = []
        self._firsts: frozenset[str] = frozenset()
        self._longest = 0

    def add(self, name: str, value: str) -> None:
        """Add every form of *value* by *name*; the first name of a form stays."""
        for form in _forms_of(value):
            if form not in self._names:
                self._names[form] = name
                lengths = self._by_head.setdefault(form[:MIN_SECRET_LENGTH], [])
                if len(form) not in lengths:
                    lengths.append(len(form))
                    lengths.sort(reverse=True)

    def replace(self, text: str, by: Callable[[str], str]) -> tuple[str, int]:
        """Return *text* with ``by(name)`` in the place of each form, and how many there were."""
        pieces, position, count = [], 0, 0
        for start, form, name in self.find(text):
            pieces += [text[position:start], by(name)]
            position, count = start + len(form), count + 1
        return "".join([*pieces, text[position:]]), count

    def find(self, text: str) -> Iterator[Hit]:
        """Yield where each form begins in *text*, itself, and its name, from left to right."""
        if not self._by_head:
            return
        heads = self._heads(text)
        hits = list(self._find_plain(text, heads))
        if parted := [*self._find_spaced_hex(text), *self._find_across_lines(text, heads)]:
            hits = sorted((*hits, *parted), key=lambda hit: (hit[0], -len(hit[1])))
        end = 0
        for start, form, name in hits:
            if start >= end:
                yield start, form, name
                end = start + len(form)

    def _find_spaced_hex(self, text: str) -> Iterator[Hit]:
        for region in _SPACED_HEX.finditer(text):
            places = [offset for offset in range(*region.span()) if text[offset] not in " \t\r\n:,"]
            joined = "".join(text[offset] for offset in places)
            for start, form, name in self._find_plain(joined, self._heads(joined)):
                first, last = places[start], places[start + len(form) - 1]
                yield first, text[first : last + 1], name

    def _find_across_lines(self, text: str, heads: Sequence[int]) -> Iterator[Hit]:
        """Yield the forms that a line end, with the blanks after it, goes through.

        *heads* is where the beginning of one stands whole; else it begins just before a line end.
        """
        ends = list(_LINE_BREAK.finditer(text))
        lengths = [0, *itertools.accumulate(len(end[0]) for end in ends)]
        starts = [end.start() for end in ends]
        places = [start - before for start, before in zip(starts, lengths, strict=False)]
        joined = _LINE_BREAK.sub("", text) if ends else ""
        candidate_starts = (
            offset - lengths[bisect_right(starts, offset)] for offset in heads if ends
        )
        split_starts = (
            range(max(place - MIN_SECRET_LENGTH + 1, previous), place)
            for previous, place in itertools.pairwise((0, *places))
        )
        for start in itertools.chain(candidate_starts, *split_starts):
            if joined[start : start + MIN_SECRET_LENGTH] in self._by_head:
                form = self._form_at(joined, start) or ""
                last = start + len(form) - 1
                before, within = bisect_right(places, start), bisect_right(places, last)
                if within > before:
                    first, end = start + lengths[before], last + lengths[within] + 1
                    yield first, text[first:end], self._names[form]

    def _heads(self, text: str) -> list[int]:
        """Return where in *text* a form may begin."""
        heads = self._by_head
        ends = range(MIN_SECRET_LENGTH, len(text) + 1)
        return [
            end - MIN_SECRET_LENGTH for end in ends if text[end - MIN_SECRET_LENGTH : end] in heads
        ]

    def _find_plain(self, text: str, heads: Sequence[int]) -> Iterator[Hit]:
        position = 0
        for start in heads:
            form = self._form_at(text, start) if start >= position else None
            if form is not None:
                yield start, form, self._names[form]
                position = start + len(form)

    def _form_at(self, text: str, start: int) -> str | None:
        lengths = self._by_head[text[start : start + MIN_SECRET_LENGTH]]
        pieces = (text[start : start + length] for length in lengths)
        return next((piece for piece in pieces if piece in self._names), None)

    def partial_secret_length(self, text: str) -> int:
        """Return how many characters at the end of *text* may be the beginning of a form."""
        if len(self._sorted) != len(self._names):
            self._sorted = sorted(self._names)
            self._firsts = frozenset(form[0] for form in self._sorted)
            self._longest = max(map(len, self._sorted))
        longest = min(len(text), self._longest)
        lengths = (n for n in range(longest, 0, -1) if text[-n] in self._firsts)
        return next((n for n in lengths if self._is_prefix(text[-n:])), 0)

    def _is_prefix(self, text: str) -> bool:
        """Return whether there is a form that is longer than *text* and begins with it."""
        place = bisect_right(self._sorted, text)
        return place < len(self._sorted) and self._sorted[place].startswith(text)


def _forms_of(value: str) -> Iterator[str]:
    """Yield what may be seen of *value* in a text, each at least as long as the shortest secret."""
    pieces = [
        value[offset : offset + _PIECE_LENGTH] for offset in range(0, len(value), _PIECE_LENGTH)
    ]
    if "\n" in value:
        pieces += (line for line in value.splitlines() if not line.startswith("-----"))
    for piece in pieces:
        data = piece.encode("utf-8", "surrogateescape")
        forms = [piece, piece.replace("\\", ""), piece[::-1], repr(piece)[1:-1], html.escape(piece)]
        forms += [quote(piece, safe=""), quote(piece), unquote(piece)]
        in_json = json.dumps(piece)[1:-1]
        forms += [in_json, json.dumps(in_json)[1:-1], json.dumps(piece, ensure_ascii=False)[1:-1]]
        forms += [data.hex(), data.hex().upper(), *_in_base64(data)]
        forms += ["".join(f"{mark}{one:02{kind}}" for one in data) for mark, kind in _ESCAPES]
        yield from (form for form in forms if len(form) >= MIN_SECRET_LENGTH)


def _in_base64(data: bytes) -> Iterator[str]:
    """Yield what base64 makes of *data* wherever it begins in a longer text."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode()
        part = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield part
        yield part.translate(str.maketrans("+/", "-_"))
