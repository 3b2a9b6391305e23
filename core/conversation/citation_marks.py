"""Marks of citations in a text: `[2]` in its words, and nothing that only looks like one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from core.cards import Link
from utils.text.clean import visible

_MARKS = re.compile(r"(?<![A-Za-z0-9_\]\\!])(?:\[[1-9]\d{0,2}\])+(?![\[(])")
_DEFINITION = re.compile(r" {0,3}\[[1-9]\d{0,2}\]:")
_NUMBER = re.compile(r"\[([1-9]\d{0,2})\]")
_FENCE = re.compile(r"[\s>]*(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_CODE_OR_LINK = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
    r"|\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]\([^)\n]*\)"
)
_MAX_LINE = 10_000
"""Characters of a line beyond which nothing in it is looked for."""


def cited_numbers(text: str) -> set[int]:
    """Return the numbers that *text*, Markdown, cites."""
    found: set[int] = set()

    def note(number: int) -> str:
        found.add(number)
        return ""

    with_marks(text, note)
    return found


def with_marks(text: str, replaced: Callable[[int], str]) -> str:
    """Return *text*, Markdown, with each number that it cites *replaced*.

    What stands in code or in a link is none, nor is an index behind a name, as in `a[2]`.
    """
    lines: list[str] = []
    fence, is_list, is_code, is_after_blank = "", False, False, True
    for line in text.split("\n"):
        opening, is_blank = _FENCE.match(line), not line.strip()
        is_indented = line.startswith(("    ", "\t"))
        if fence:
            is_end = (
                opening and opening[1].startswith(fence) and not line.strip(f" \t\r>{fence[0]}")
            )
            fence = "" if is_end else fence
        elif opening:
            fence = opening[1]
        elif not is_blank:
            is_list = _ITEM.match(line) is not None or (is_list and line.startswith(" "))
            is_code = is_indented and not is_list and (is_code or is_after_blank)
            if not (is_code or _DEFINITION.match(line) or len(line) > _MAX_LINE):
                line = _line_with_marks(line, replaced)
        is_after_blank = is_blank
        lines.append(line)
    return "\n".join(lines)


def _line_with_marks(line: str, replaced: Callable[[int], str]) -> str:
    parts: list[str] = []
    end = 0
    for other in _CODE_OR_LINK.finditer(line):
        parts += (marked(line, replaced, end, other.start()), other[0])
        end = other.end()
    return "".join((*parts, marked(line, replaced, end, len(line))))


def marked(text: str, replaced: Callable[[int], str], start: int = 0, end: int = -1) -> str:
    """Return the plain words in *text* from *start* to *end* with each citation *replaced*."""
    pieces: list[str] = []
    end = len(text) if end < 0 else end
    for marks in _MARKS.finditer(text, start):
        if marks.end() > end:
            break
        pieces.append(text[start : marks.start()])
        pieces.append(_NUMBER.sub(lambda found: replaced(int(found[1])), marks[0]))
        start = marks.end()
    return "".join((*pieces, text[start:end]))


def _in_url(char: str) -> str:
    """Return *char* of an address, encoded where it would end the link or is not seen."""
    is_plain = char.isprintable() and char not in "<>\\" and not char.isspace()
    return char if is_plain else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def link_to(label: str, url: str, title: str = "") -> str:
    """Return *label*, Markdown, as a link to *url*; as it is where that is no page of the web.

    *title* has no quotes and no backslash.
    """
    if not _is_web(url):
        return label
    address = "".join(map(_in_url, url))
    return f'[{label}](<{address}> "{title}")' if title else f"[{label}](<{address}>)"


def with_links(text: str, sources: Mapping[int, Link]) -> str:
    """Return *text*, Markdown, with a link for each source that it cites."""

    def linked(number: int) -> str:
        source = sources.get(number)
        if source and not _is_web(source.url):
            return f"[{number}]"
        if source:
            title = re.sub(r'[\\"<>\[\]]', "", visible(" ".join(source.title.split())))
            return link_to(f"\\[{number}\\]", source.url, title)
        return f"[{number}]? (source not read)"

    return with_marks(text, linked) if sources else text
