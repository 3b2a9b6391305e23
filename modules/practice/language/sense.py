"""Plausibility of a parsed request: a rule sees the words, this checks what they name."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from modules.practice.language.arithmetic import to_python
from modules.practice.language.grammar import SHELL_PROGRAMS, RequestKind

_FILES_WITHOUT_SUFFIX = ("README", "LICENSE", "Makefile", "Dockerfile", "TODO", "NOTES")
_MOST_WORDS = 4
# A description of what to print is no text to print, and to write a program for it takes an AI.
_DESCRIBING = re.compile(
    r"\b(?:the|an?|all|any|every|each|its?|from|to|of|first|last|numbers?|current|random|sum)\b"
    r"|[的到前第]|所有|每|当前|现在|今天|随机",
    re.IGNORECASE,
)


def makes_sense(kind: RequestKind, parts: Mapping[str, str], quoted: Collection[str]) -> bool:
    """Return whether *parts* are plausible for *kind*; *quoted* names those that were in quotes."""
    match kind:
        case "make" | "append":
            return _names_file(parts, quoted)
        case "make printing":
            return _names_file(parts, quoted) and ("text" in quoted or _is_plain(parts["text"]))
        case "run file":
            return not parts["path"] or _is_script(parts["path"])
        case "find files":
            return not {"*", "?"}.isdisjoint(parts.get("glob", "*"))
        case "compute":
            return to_python(parts["text"]) is not None
        case _:
            return True


def is_file_like(path: str) -> bool:
    """Return whether *path* looks like one, rather than like a word."""
    return "." in path or "/" in path or path in _FILES_WITHOUT_SUFFIX


def _names_file(parts: Mapping[str, str], quoted: Collection[str]) -> bool:
    is_called_so = "path" in quoted or "noun" in parts or "named" in parts
    return is_called_so or not parts["path"] or is_file_like(parts["path"])


def _is_plain(text: str) -> bool:
    return len(text.split()) <= _MOST_WORDS and not _DESCRIBING.search(text)


def _is_script(path: str) -> bool:
    """Return whether *path* is a file to run rather than a command line."""
    stem, _, suffix = path.rpartition(".")
    return bool(stem) and suffix.isalnum() and not re.match(rf"(?:{SHELL_PROGRAMS})\s", path)
