"""Extracts quoted texts, so that their words are not taken for words of a request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

MARK = "\0"
"""Stands on both sides of the number of a text that was set aside."""

_QUOTES = {"“": "”", "‘": "’", "「": "」", "『": "』"}


@dataclass(frozen=True, slots=True)
class Quoted:
    """A request with marks in place of quotes: *originals* have their quotes, *texts* do not."""

    text: str
    originals: tuple[str, ...]
    texts: tuple[str, ...]

    def restore(self, part: str) -> str:
        """Return *part* of the text with its quotes as they were written."""
        return _mark_pattern().sub(lambda mark: self.originals[int(mark[1])], part)

    def is_one(self, part: str) -> bool:
        """Return whether *part* is one quote and nothing else."""
        return _mark_pattern().fullmatch(part.strip()) is not None

    def value(self, part: str) -> str:
        """Return what *part* means: the text in the quotes if it is one quote, else all of it."""
        part = part.strip()
        if mark_match := _mark_pattern().fullmatch(part):
            return self.texts[int(mark_match[1])]
        return self.restore(part)


def extract_quotes(text: str) -> Quoted:
    """Return *text* with every quote, fenced block and block after "…:" set aside.

    A quote is `…`, "…", '…' (not within a word), “…”, ‘…’, 「…」 or 『…』.
    """
    text = text.replace(MARK, "").replace("\r\n", "\n").strip()
    originals: list[str] = []
    texts: list[str] = []

    def replace_quote(match: re.Match[str]) -> str:
        kind = str(match.lastgroup)
        quote = match[0]
        head = quote[: match.start(kind) - match.start()] if kind == "block" else ""
        originals.append(quote[len(head) :])
        texts.append(_unquoted(kind, match[kind]))
        return f"{head}{MARK}{len(texts) - 1}{MARK}"

    return Quoted(_quote_pattern().sub(replace_quote, text), tuple(originals), tuple(texts))


def _unquoted(kind: str, text: str) -> str:
    return text.replace('\\"', '"') if kind == "double" else text


@cache
def _mark_pattern() -> re.Pattern[str]:
    return re.compile(f"{MARK}([0-9]+){MARK}")


@cache
def _quote_pattern() -> re.Pattern[str]:
    # Every repetition is possessive or ends at its first delimiter: the time is linear.
    fancy = "|".join(
        f"{left}(?P<fancy{n}>[^{left}{right}]*+){right}"
        for n, (left, right) in enumerate(_QUOTES.items())
    )
    return re.compile(
        r"```[^\n`]*+\n(?P<fence>.*?)(?:\n?^[ \t]*```|\Z)"
        r"|```(?P<inline>[^`\n]++)```"
        r"|[:：][ \t]*+\n(?![ \t\n]*+```)(?P<block>.+?)(?=\n[ \t]*(?:and|then|然后|并)[^\n]*\Z|\Z)"
        r"|`(?P<code>[^`]++)`"
        r'|(?<!\\)"(?P<double>(?:[^"\\]|\\.)*+)"'
        r"|(?<!\w)'(?P<single>[^'\n]*+)'(?!\w)"
        rf"|{fancy}",
        re.MULTILINE | re.DOTALL,
    )
