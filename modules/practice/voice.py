"""Texts of the practice model: answers in the language that it was asked in.

These are a model's words, part of the conversation, and so no phrases of a screen's catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]
_MAX_QUOTE_CHARS = 6_000  # characters of a quoted text
_MAX_QUOTE_LINES = 60


@dataclass(frozen=True, slots=True)
class Voice:
    """Says things in *language*, and what it says of itself in that of the *screen*, if given."""

    language: Language
    screen: Language | None = None

    @property
    def interface_voice(self) -> Voice:
        """Voice of refusals and help, which are no part of an answer."""
        return Voice(self.screen or self.language)

    def __call__(self, english: str, chinese: str, /, **values: str | int) -> str:
        """Return the template of the language with its *values* filled in."""
        return (english if self.language == "en" else chinese).format_map(values)

    def quote(self, text: str) -> str:
        """Return *text* as a block of code, cut where it is long, saying so."""
        lines = text.strip("\n").split("\n")
        shown = "\n".join(lines[:_MAX_QUOTE_LINES])[:_MAX_QUOTE_CHARS]
        fence = fence_for(shown)
        block = f"{fence}\n{shown}\n{fence}"
        if len(lines) <= _MAX_QUOTE_LINES and len(shown) == len("\n".join(lines)):
            return block
        more = self("(and more: the card shows it)", "（还有更多，见上面的卡片）")
        return f"{block}\n{more}"

    def join(self, parts: list[str]) -> str:
        return self(", ", "、").join(parts)


def fence_for(text: str) -> str:
    """Return a fence that *text* cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence


def code(text: str) -> str:
    """Return *text*, one line of it at most, as code within a sentence."""
    line = " ".join(text.split())
    line = line if len(line) <= 200 else f"{line[:199]}…"
    fence = "`"
    while fence in line:
        fence += "`"
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"
