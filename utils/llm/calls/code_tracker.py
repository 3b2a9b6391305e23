"""Following Markdown as it comes: whether what follows is code, in a fence or between backticks."""

from __future__ import annotations

import re

_FENCE = re.compile(r"[\s>]*(`{3,}|~{3,})")
_LED_FENCE = re.compile(r"[\s>]*(?:(?:[-*+•]|\d{1,9}[.)])\s+|[\"'“‘「『（(]\s*)(`{3,}|~{3,})")
"""A fence that begins in the item of a list, or behind a quotation mark."""


class CodeTracker:
    """Knows whether Markdown read so far ends inside a code fence or a code span."""

    def __init__(self) -> None:
        self._fence = ""
        self._unscanned: list[str] = []

    def read(self, text: str) -> None:
        self._unscanned.append(text)

    def is_open_after(self, text: str) -> bool:
        """Return whether what follows *text*, which follows all that was read, is code."""
        *lines, last = "".join([*self._unscanned, text]).split("\n")
        fence = self._fence
        for line in lines:
            fence = fence_after(line, fence)
        self._scan_lines()
        if fence:
            return True
        return len(re.findall(r"`+", last)) % 2 == 1

    def _scan_lines(self) -> None:
        """Take in the whole lines among what was read, so that they are looked at once."""
        *lines, last = "".join(self._unscanned).split("\n")
        for line in lines:
            self._fence = fence_after(line, self._fence)
        self._unscanned = [last]


def fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after *line*, '' for none, *fence* being open before."""
    match = _FENCE.match(line) or (None if fence else _LED_FENCE.match(line))
    if not match:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not line[match.end() :].strip()
    return "" if closes else fence


FENCED = re.compile(r"(?ms)^[ \t>]*(`{3,32}|~{3,32})[^\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)")
SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]{0,1000}?(?<!`)\1(?!`)")
QUOTE = re.compile(r"(?m)^[ \t]*>(?!>>\w+\n\{).*$")


def parted(text: str) -> tuple[str, list[str], list[str]]:
    """Return *text* without code and quotations; the fences and quotations; the spans of code."""
    plain: list[str] = []
    blocks: list[list[str]] = []
    fence = ""
    is_in_quotation = False
    for line in text.split("\n"):
        was_open, fence = bool(fence), fence_after(line, fence)
        is_quoted = not was_open and not fence and QUOTE.match(line) is not None
        if not (was_open or fence or is_quoted):
            plain.append(line)
        elif was_open or (is_quoted and is_in_quotation):
            blocks[-1].append(line)
        else:
            blocks.append([line])
        is_in_quotation = is_quoted
    outside = "\n".join(plain)
    spans = [found[0] for found in SPAN.finditer(outside)]
    return SPAN.sub("", outside), ["\n".join(lines) for lines in blocks], spans
