"""Matching of text but for characters that look alike: quotes, dashes and odd spaces."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from unicodedata import is_normalized, normalize

_TRANSLATION = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2007\u202f\u3000", " "),
        **dict.fromkeys(map(chr, range(0x2000, 0x200B)), " "),
        **dict.fromkeys("\u200b\u2060\ufeff\u00ad", ""),  # nothing is to be seen of them
    }
)


def normalize_look_alikes(text: str) -> str:
    """Return *text* in its plainest form; every line stays a line."""
    if text.isascii():
        return text
    composed = text if is_normalized("NFC", text) else normalize("NFC", text)
    return composed.translate(_TRANSLATION)


def find_look_alike(text: str, old: str) -> tuple[int, int] | None:
    """Return where the only piece of *text* begins and ends that looks like *old*.

    None if there is none, or its ends lie within a character. Raises `LookupError` with the line
    indexes if there are several.
    """
    normalized, wanted = normalize_look_alikes(text), normalize_look_alikes(old)
    if not wanted or (normalized == text and wanted == old):
        return None
    found = []
    offset = normalized.find(wanted)
    while offset >= 0:
        found.append(offset)
        offset = normalized.find(wanted, offset + 1)
    if len(found) > 1:
        raise LookupError([normalized.count("\n", 0, offset) for offset in found])
    return _original_span(text, normalized, found[0], len(wanted)) if found else None


def _original_span(text: str, normalized: str, offset: int, length: int) -> tuple[int, int] | None:
    """Return the part of *text* that has become `normalized[at:at + length]`; None if none has."""
    *_, start = _original_offsets(text, normalized, offset)
    wanted = normalized[offset : offset + length]
    ends = _original_offsets(text, normalized, offset + length)
    return next(
        ((start, end) for end in ends if normalize_look_alikes(text[start:end]) == wanted), None
    )


def _original_offsets(text: str, normalized: str, offset: int) -> range:
    """Return the offsets in *text* before which the first *offset* characters of *normalized*
    stand."""
    begin = 0
    for _ in range(normalized.count("\n", 0, offset)):
        begin = text.index("\n", begin) + 1
    column = offset - (normalized.rfind("\n", 0, offset) + 1)
    end = text.find("\n", begin)
    line = text[begin : end if end >= 0 else len(text)]
    sizes = range(len(line) + 1)

    def plain_length(size: int) -> int:
        return len(normalize_look_alikes(line[:size]))

    first = bisect_left(sizes, column, key=plain_length)
    return range(begin + first, begin + bisect_right(sizes, column, key=plain_length))
