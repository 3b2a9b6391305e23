"""The text block of a call in the VCP protocol: written, and read back whole or not at all.

    <<<[TOOL_REQUEST]>>>
    tool_name:「始」read_file「末」,
    path:「始」README.md「末」
    <<<[END_TOOL_REQUEST]>>>

A value that holds a marker stands in `「始ESCAPE」…「末ESCAPE」`; one that holds that end too has a
number behind the word, `「始ESCAPE2」…「末ESCAPE2」`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

REQUEST = "<<<[TOOL_REQUEST]>>>"
END_REQUEST = "<<<[END_TOOL_REQUEST]>>>"
NAME_KEY = "tool_name"

_KEY = r"[^\s:：「」,，<>]{1,200}"
_PAIR = re.compile(rf"\s*(?P<key>{_KEY})\s*[:：]\s*「始(?P<tag>ESCAPE\w{{0,8}})?」")
_SEPARATOR = re.compile(r"\s*[,，、;；]?\s*")
MARKER = re.compile(r"「[始末](?:ESCAPE\w*)?」|\[(?:END_)?TOOL_(?:REQUEST|RESULT)\]")
_QUOTATION = re.compile("「[^「」]*」")
_HALF_MARKER = re.compile(r"「[始末]|[始末](?:ESCAPE\w*)?」")
_IS_KEY = re.compile(_KEY)
OPENING = re.compile(rf"{re.escape(REQUEST)}(?=\s*(?:{_KEY}\s*[:：]\s*「始|\{{))")
"""What begins a block: the marker alone, in a sentence about it, does not."""
STRAY = re.compile(rf"{MARKER.pattern}|(?m:^[ \t]*{NAME_KEY}[ \t]*[:：])")
"""What a block is made of; outside of one it is left over from one that is damaged."""


@dataclass(frozen=True, slots=True)
class Block:
    """One whole block: the tool's name and the texts of its arguments, by key, in their order."""

    name: str
    arguments: dict[str, str]


def read_block(
    text: str, start: int, *, begin: str = REQUEST, end: str = END_REQUEST
) -> tuple[Block | None, int]:
    """Return the block from *begin* at *start* to *end*, and where; None for one that is not whole.

    A value without its end, a marker or half of one within a value, a key that comes twice or
    anything between the values: none of that can be told from a block that was cut.
    """
    pairs: list[tuple[str, str]] = []
    position = start + len(begin)
    while opening := _PAIR.match(text, position):
        tag = opening["tag"] or ""
        closing = f"「末{tag}」"
        value_end = text.find(closing, opening.end())
        if value_end < 0:
            return None, len(text)
        value = text[opening.end() : value_end]
        if not tag and _holds_marker(value):
            return None, value_end
        pairs.append((opening["key"], _unpadded(value)))
        position = _end_of(_SEPARATOR, text, value_end + len(closing))
    if not text.startswith(end, position):
        return None, position
    return _block(pairs), position + len(end)


def is_cut(text: str) -> bool:
    """Return whether *text* has one end of a block, or of a value, without the other."""
    ends = (("「始", "「末"), (REQUEST, END_REQUEST))
    return any(text.count(begin) != text.count(end) for begin, end in ends)


def _holds_marker(value: str) -> bool:
    """Return whether *value* has a marker in it, or half of one that is no part of a quotation."""
    if MARKER.search(value):
        return True
    return _HALF_MARKER.search(_QUOTATION.sub("", value)) is not None


def _end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _block(pairs: list[tuple[str, str]]) -> Block | None:
    """Return the block of *pairs*; the first `tool_name` is the name of the tool."""
    names = [number for number, (key, _) in enumerate(pairs) if key.lower() == NAME_KEY]
    name = pairs.pop(names[0])[1].strip() if names else ""
    arguments = dict(pairs)
    return Block(name, arguments) if name and len(arguments) == len(pairs) else None


def write_block(name: str, arguments: Iterable[tuple[str, str]]) -> str:
    """Return the block of a call; every text comes back from it to the letter."""
    return f"{REQUEST}\n{write_pairs([(NAME_KEY, name), *arguments])}\n{END_REQUEST}"


def write_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """Return *pairs*, one a line, with what in their values could be taken for a marker escaped."""
    return ",\n".join(f"{key}:{_quoted(value)}" for key, value in pairs)


def is_key(text: str) -> bool:
    """Return whether *text* can be the name of an argument in a block."""
    return _IS_KEY.fullmatch(text) is not None and text.lower() != NAME_KEY


def _quoted(value: str) -> str:
    tag = next(tag for tag in _tags(value) if f"「末{tag}」" not in value)
    return f"「始{tag}」{_padded(value)}「末{tag}」"


def _tags(value: str) -> Iterator[str]:
    """Yield the words that may mark the ends of *value*, the plainest first."""
    if not _holds_marker(value):
        yield ""
    yield "ESCAPE"
    yield from (f"ESCAPE{number}" for number in count(2))


def _padded(value: str) -> str:
    """Return *value* with a line break around it where `_unpadded` would take one of its own."""
    return f"\n{value}\n" if _unpadded(value) != value else value


def _unpadded(value: str) -> str:
    """Return *value* without the line breaks that a model puts around a value of many lines."""
    is_padded = len(value) > 1 and value.startswith("\n") and value.endswith("\n")
    return value[1:-1] if is_padded else value
