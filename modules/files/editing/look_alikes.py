"""Characters that look alike: which text stands where, but for quotes, dashes and odd spaces."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from unicodedata import is_normalized, normalize

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2007\u202f\u3000", " "),
        **dict.fromkeys(map(chr, range(0x2000, 0x200B)), " "),
        **dict.fromkeys("\u200b\u2060\ufeff\u00ad", ""),  # nothing is to be seen of them
    }
)


def plain(text: str) -> str:
    """Return *text* in its plainest form; every line stays a line."""
    if text.isascii():
        return text
    composed = text if is_normalized("NFC", text) else normalize("NFC", text)
    return composed.translate(_PLAIN)


def span(text: str, old: str) -> tuple[int, int] | None:
    """Return where the only piece of *text* begins and ends that looks like *old*.

    None if there is none, or its ends lie within a character. Raises `LookupError` with the line
    indexes if there are several.
    """
    simple, wanted = plain(text), plain(old)
    if not wanted or (simple == text and wanted == old):
        return None
    found = []
    at = simple.find(wanted)
    while at >= 0:
        found.append(at)
        at = simple.find(wanted, at + 1)
    if len(found) > 1:
        raise LookupError([simple.count("\n", 0, at) for at in found])
    return _in_original(text, simple, found[0], len(wanted)) if found else None


def _in_original(text: str, simple: str, at: int, length: int) -> tuple[int, int] | None:
    """Return the part of *text* that has become `simple[at:at + length]`; None if none has."""
    *_, start = _places(text, simple, at)
    wanted = simple[at : at + length]
    ends = _places(text, simple, at + length)
    return next(((start, end) for end in ends if plain(text[start:end]) == wanted), None)


def _places(text: str, simple: str, at: int) -> range:
    """Return the offsets in *text* before which the first *at* characters of *simple* stand."""
    begin = 0
    for _ in range(simple.count("\n", 0, at)):
        begin = text.index("\n", begin) + 1
    column = at - (simple.rfind("\n", 0, at) + 1)
    end = text.find("\n", begin)
    line = text[begin : end if end >= 0 else len(text)]
    sizes = range(len(line) + 1)

    def plain_length(size: int) -> int:
        return len(plain(line[:size]))

    first = bisect_left(sizes, column, key=plain_length)
    return range(begin + first, begin + bisect_right(sizes, column, key=plain_length))
