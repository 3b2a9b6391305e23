"""Texts of many lines: their numbered form, parts of them, what is like them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

_SURROGATE = r"[\ud800-\udfff]"
_LONE_SURROGATE = r"[\ud800-\udc7f\udd00-\udfff]"  # the others stand for bytes of a file name


def with_count(count: int, noun: str) -> str:
    """Return "1 line", "2 lines": for the model, whose language is English."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_names(names: Sequence[str], maximum: int = 20) -> str:
    """Return the first *maximum* of *names* in one line, and in figures how many more there are."""
    more = len(names) - maximum
    return ", ".join(names[:maximum]) + (f" … (+{more:,})" if more > 0 else "")


def lines_of(text: str) -> list[str]:
    """Return the lines of *text* without their ends; what follows the last newline, if anything.

    Only "\\n" ends a line here: `str.splitlines` would also split at form feeds and the like.
    """
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def numbered(lines: Sequence[str], first: int) -> str:
    """Return *lines* with their numbers, the first being *first*, as the model reads them."""
    return "\n".join(f"{number}│{line}" for number, line in enumerate(lines, first))


def cut_middle(text: str, limit: int) -> str:
    """Return *text*, or its beginning and end with a word between, in about *limit* characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def parse_number(word: str) -> int | None:
    """Return the number that *word* spells in digits; None if it is none, or one nobody means."""
    return int(word) if word.isdecimal() and len(word) < 10 else None


def replace_surrogates(text: str) -> str:
    """Return *text* with U+FFFD in place of every surrogate, so that it can be encoded."""
    return re.sub(_SURROGATE, "\ufffd", text)


def replace_lone_surrogates(text: str) -> str:
    """Return *text* with U+FFFD in place of each surrogate that stands for no byte."""
    return re.sub(_LONE_SURROGATE, "\ufffd", text)


def format_size(size: int) -> str:
    """Return *size* bytes as people write it: 640 B, 1.2 kB, 20 MB."""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


_WORD = r"[A-Za-z0-9_]+|\w"


def nearest_block(lines: Sequence[str], sought_lines: Sequence[str]) -> range | None:
    """Return the line indexes of the block of *lines* most like *sought_lines*; None if none is.

    Likeness is the share of words in common (a Chinese character counts as a word), so the time
    grows with the size of the text alone.
    """
    wanted_words = set(re.findall(_WORD, " ".join(sought_lines)))
    if not wanted_words or not lines:
        return None
    exact = {line.strip() for line in sought_lines if line.strip()}
    size = min(len(sought_lines), len(lines))
    weights = [_weight(line, wanted_words, exact) for line in lines]
    totals = [0.0, *accumulate(weights)]
    best = max(range(len(lines) - size + 1), key=lambda i: totals[i + size] - totals[i])
    if totals[best + size] - totals[best] < 0.4 * size:
        return None
    return range(best, best + size)


def _weight(line: str, wanted_words: set[str], exact: set[str]) -> float:
    """Return how much *line* is like what is sought: 0 not at all, 2 a line of it."""
    if line.strip() in exact:
        return 2.0
    words = re.findall(_WORD, line)
    return sum(word in wanted_words for word in words) / len(words) if words else 0.0
