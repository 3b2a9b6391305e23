"""Patterns for paths: "*.py", "src/**/test_*.py", "*.{js,ts}"."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from utils.i18n import UserError, phrase

_PIECE = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?\]?[^\]]*\]|[{},]|\\.|.", re.DOTALL)
_STAR = r"\[\^/\]\*"
_ONE = (
    r"(?:\\.|\[(?:\\.|[^\]\\])+\](?![*+])|[^\\\[\](){}*?+|.^$/])"  # one character, or one of a set
)
_STAR_AND_REST = re.compile(rf"{_STAR}({_ONE}+)(?={_STAR})")
_TRANSLATIONS = {
    "**/": "(?:[^/]+/)*",
    "/**": "/.+",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
}


_STARS = re.compile(r"\*{3,}")
_MAX_COUNTS = ((re.compile(r"\*\*"), 4), (re.compile(r"\{"), 10), (re.compile(r"\{[^{}]*\*"), 3))
"""Parts of a pattern that may cause backtracking, and how often each is allowed."""


class PatternTooComplex(UserError):
    """The pattern has more stars and braces than anybody means."""

    def __init__(self) -> None:
        super().__init__(phrase("That pattern has too many stars or braces; use a simpler one."))


def glob_filter(pattern: str, *, ignore_case: bool = False) -> Callable[[str], bool]:
    """Return a test of '/'-separated relative paths by *pattern*.

    "*" and "?" stay within a name, "**" does not; "{a,b}" is either; "[a-z]" one of a set. A
    pattern without "/" is tried on the last name of a path, so that "*.py" finds them at any depth.
    Raises `PatternTooComplex` for one that could keep us busy.
    """
    pattern = _STARS.sub("**", pattern.removeprefix("./"))
    if any(len(part.findall(pattern)) > maximum for part, maximum in _MAX_COUNTS):
        raise PatternTooComplex
    search = _compile(pattern.lstrip("/"), ignore_case).fullmatch
    if "/" in pattern:
        return lambda path: search(path) is not None
    return lambda path: search(path.rpartition("/")[2]) is not None


@lru_cache(maxsize=64)
def _compile(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    try:
        return re.compile(without_backtracking(_to_regex(pattern)), flags)
    except (re.error, RecursionError):  # "[z-a]" and the like: then the characters are meant
        return re.compile(re.escape(pattern), flags)


def without_backtracking(expression: str) -> str:
    """Return *expression* without costly backtracking, however many stars it has.

    What a star stands for and the characters behind it are not tried again once they fit, where
    another star follows in the same name: that one takes what a later fit would have left.
    """
    return _STAR_AND_REST.sub(r"(?>[^/]*?\1)", expression)


def _to_regex(pattern: str) -> str:
    expression, depth = "", 0
    for piece in _PIECE.findall(pattern):
        if piece == "{":
            depth += 1
            expression += "(?:"
        elif piece == "}" and depth:
            depth -= 1
            expression += ")"
        elif piece == "," and depth:
            expression += "|"
        else:
            expression += _translate_piece(piece)
    return expression


def _translate_piece(piece: str) -> str:
    if piece in _TRANSLATIONS:
        return _TRANSLATIONS[piece]
    if piece.startswith("[") and len(piece) > 2:
        inner = piece[1:-1].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
        return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
    if piece.startswith("\\") and len(piece) == 2:
        return re.escape(piece[1])
    return re.escape(piece)
