"""Sets what stands in quotes aside, so that its words are not taken for words of a request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

MARK = "\0"
"""Stands on both sides of the number of a text that was set aside."""

_QUOTES = {"“": "”", "‘": "’", "「": "」", "『": "』"}


@dataclass(frozen=True, slots=True)
class Quoted:
    """A request whose quotes were replaced by marks: *originals* as written, *texts* without."""

    text: str
    originals: tuple[str, ...]
    texts: tuple[str, ...]

    def restore(self, part: str) -> str:
        """Return *part* of the text with its quotes as they were written."""
        return _mark().sub(lambda mark: self.originals[int(mark[1])], part)

    def is_one(self, part: str) -> bool:
        """Return whether *part* is one quote and nothing else."""
        return _mark().fullmatch(part.strip()) is not None

    def value(self, part: str) -> str:
        """Return what *part* means: the text in the quotes if it is one quote, else all of it."""
        part = part.strip()
        if whole := _mark().fullmatch(part):
            return self.texts[int(whole[1])]
        return self.restore(part)


def set_aside(text: str) -> Quoted:
    """Return *text* with every quote, fenced block and block after "…:" set aside.

    A quote is `…`, "…", '…' (not within a word), “…”, ‘…’, 「…」 or 『…』.
    """
    text = text.replace(MARK, "").replace("\r\n", "\n").strip()
    originals: list[str] = []
    texts: list[str] = []

    def put(found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        whole = found[0]
        head = whole[: found.start(kind) - found.start()] if kind == "block" else ""
        originals.append(whole[len(head) :])
        texts.append(_unquoted(kind, found[kind]))
        return f"{head}{MARK}{len(texts) - 1}{MARK}"

    return Quoted(_quotes().sub(put, text), tuple(originals), tuple(texts))


def _unquoted(kind: str, text: str) -> str:
    return text.replace('\\"', '"') if kind == "double" else text


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(f"{MARK}([0-9]+){MARK}")


@cache
def _quotes() -> re.Pattern[str]:
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
