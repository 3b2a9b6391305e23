"""Grammar of rules for requests: how one is written, and how it is matched.

A rule is a regular expression with a few words of its own: a space is some white space, `~` is
white space or none, and `<path>`, `<new>` (paths), `<text>`, `<old>` (texts), `<glob>` are what to
find. Every repetition is bounded or runs to the end of the text: no request is slow to match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from modules.practice.language.quoting import MARK
from modules.practice.voice import Language

RequestKind = Literal[
    "help",
    "greet",
    "thank",
    "describe",
    "show",
    "make",
    "make printing",
    "overwrite",
    "append",
    "replace",
    "cut out",
    "run file",
    "run command",
    "run python",
    "compute",
    "search",
    "find files",
    "rename",
    "delete",
    "delete folder",
    "make folder",
    "focus",
    "unfocus",
    "note",
    "drop note",
    "remember",
    "plan",
    "count",
    "undo",
]


@dataclass(frozen=True, slots=True)
class Rule:
    """Pattern of requests of *kind*. *is_exact*: it ends with content, taken to the letter."""

    kind: RequestKind
    pattern: str
    is_exact: bool = False


SHELL_PROGRAMS = (
    "ls|cat|echo|python3?|git|pip|pytest|make|node|npm|grep|wc|head|tail|find|pwd|date|whoami|uname"
    "|df|du|env|bash|sh|sleep|cp|sort|diff"
)
"""Programs that "run" may name without the word "command"."""

_PUNCTUATION = r"\s\0:,;!?，。；：！？、\"（）()"
_QUOTE = rf"{MARK}[0-9]+{MARK}"
_PATHS: dict[Language, str] = {
    "en": rf"(?:{_QUOTE}|[^{_PUNCTUATION}]{{0,399}}[^{_PUNCTUATION}.])",
    # No space parts a name from the words around it; what looks like one in Latin letters is tried
    # first.
    "zh": rf"(?:{_QUOTE}|[A-Za-z0-9_./~@+-]{{0,399}}[A-Za-z0-9_/~@+-]|[^{_PUNCTUATION}]{{1,99}}?)",
}
_MACROS = re.compile(r"[ ~]|(?<!\?P)<[a-z]+>")


@cache
def compile_pattern(pattern: str, language: Language) -> re.Pattern[str]:
    """Return the regular expression that *pattern* stands for."""
    path = _PATHS[language]
    expansions = {
        " ": r"\s{1,9}",
        "~": r"\s{0,9}",
        "<path>": f"(?P<path>{path})",
        "<new>": f"(?P<new>{path})",
        "<old>": r"(?P<old>.{1,500}?)",
        "<text>": r"(?P<text>.+)",
        "<glob>": rf"(?P<glob>{_QUOTE}|[^{_PUNCTUATION}?]{{0,200}}[*?][^{_PUNCTUATION}]{{0,200}})",
    }
    expanded = _MACROS.sub(lambda word: expansions[word[0]], pattern)
    return re.compile(expanded, re.IGNORECASE | re.DOTALL)
