"""Signs of a line by which its depth is told: its words, where they stand, and its shape."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

_STEM = 5
"""Letters of a longer word by which its other forms are known: "migra…" of "migrating"."""
_LENGTHS = (6, 12, 20, 30, 45, 65, 90, 130)
"""Lengths in letters; a Chinese sign counts as two."""
_POLITE = (
    r"^(?:(?:please|pls|kindly|now|so|ok|okay|and|then|hey|hi|hello|well|also|just|next|great"
    r"|thanks|thank you|can you|could you|would you|will you|can u|would you mind|i'd like you to"
    r"|i want you to|i need you to|i'd like to|i want to|we need to|we have to|let's|lets|let us"
    r"|help me|help|do|go)[,!.]? +)+"
)
_POLITE_CHINESE = (
    r"^(?:请问一下|请问|请你|请您|请|麻烦您|麻烦你|麻烦|帮我|帮忙|劳驾|能不能|可以|能|那|再|先|然后|顺便|现在"
    r"|给我|我想|我要|我们要|你|您|帮|想问下|想问)+"
)
_CODE = (
    r"`|\w\(\)|\w/\w|\b\w+\.[a-z]{1,4}\d?\b|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w*|(?<!\w)--?[a-z]"
    r"|https?:|\b[A-Z]{2,}\b|[@#$%{}\[\]<>=\\|]"
)
_ENUMERATION = r"\w, ?\w[^,]*(?:, | and )|、.*[、和及]"


def signs_of(line: str) -> frozenset[str]:
    """Return the signs of *line*: "fix" is a word, "^fix" one that it begins with, "?$" a shape."""
    text = line.casefold().replace("’", "'").translate(_one_width()).strip()
    return frozenset((*_words(text), *_chinese(text), *_ends(text), *_shape(line, text)))


def _words(text: str) -> Iterator[str]:
    words = _patterns().word.findall(text)
    yield from words
    yield from (f"{word[:_STEM]}…" for word in words if len(word) >= _STEM)
    yield from (f"{one} {two}" for one, two in pairwise(("^", *words, "$")))


def _chinese(text: str) -> Iterator[str]:
    for run in _patterns().chinese.findall(text):
        yield from run
        yield from (one + two for one, two in pairwise(run))


def _ends(text: str) -> Iterator[str]:
    """Yield what *text* begins with behind its politeness, and the Chinese that it ends with."""
    patterns = _patterns()
    body = patterns.polite.sub("", patterns.polite_chinese.sub("", text))
    if body != text:
        yield "(polite)"
    if words := patterns.word.findall(body[:40]):
        yield f"^{words[0]}"
        yield f"^{' '.join(words[:2])}"
    if body and is_chinese(body[0]):
        yield f"^{body[0]}"
        yield f"^{body[:2]}"
    tail = text.rstrip(" .!?~…,;:)")
    if tail and is_chinese(tail[-1]):
        yield f"{tail[-1]}$"
        yield f"{tail[-2:]}$"


def _shape(line: str, text: str) -> Iterator[str]:
    yield "(any)"
    size = sum(2 if is_chinese(sign) else 1 for sign in text)
    yield from (f"(longer than {length})" for length in _LENGTHS if size > length)
    yield from (f"({sign})" for sign in "?!,.~" if sign in text)
    if any(map(is_chinese, text)):
        yield "(Chinese)"
    if text.endswith("?"):
        yield "?$"
    if any(sign.isdigit() for sign in text):
        yield "(digit)"
    if any(unicodedata.category(sign) == "So" for sign in text):
        yield "(picture)"
    if names_code(line):
        yield "(code)"
    if _patterns().enumeration.search(text):
        yield "(enumeration)"
    if not line.strip(".…!?~ "):
        yield "(nothing)"


def is_chinese(sign: str) -> bool:
    return "一" <= sign <= "鿿"


def names_code(line: str) -> bool:
    """Return whether *line* has a path, an identifier, an option or an acronym in it."""
    return _patterns().code.search(line) is not None


class _Patterns:
    def __init__(self) -> None:
        self.word = re.compile(r"[a-z]+(?:'[a-z]+)?")
        self.chinese = re.compile(r"[一-鿿]+")
        self.polite = re.compile(_POLITE)
        self.polite_chinese = re.compile(_POLITE_CHINESE)
        self.code = re.compile(_CODE)
        self.enumeration = re.compile(_ENUMERATION)


@cache
def _patterns() -> _Patterns:
    return _Patterns()


@cache
def _one_width() -> dict[int, int]:
    return str.maketrans("？！，。～：；（）", "?!,.~:;()")
