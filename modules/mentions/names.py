"""The names behind an `@` in a message."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from typing import Literal, NamedTuple

from core.tools import ToolError
from modules.files.project import Project

MAX_MENTIONS = 10
"""Names of one message that are read."""
_MAX_NAMES = 200
"""Names of one message that are looked at: a pasted file has many that are nothing."""
_SYMBOL = re.compile(r"[^\W\d]\w{2,}(?:\.[^\W\d]\w*){0,9}")
_MENTION = re.compile(r"""(?:^|(?<=[\s(（「“]))@(?:"([^"\n]+)"|(\S+))""", re.MULTILINE)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LINES = re.compile(r"(.+?):(\d{1,9})(?:-(\d{1,9}))?")
_ADDRESS = re.compile(r"https?://\S+")
_END_MARKS = ".,;:!?)'\"，。；：！？）」”、"
_WIDE_MARK = re.compile("[，。；：！？、（）「」《》“”]")


class NamedPath(NamedTuple):
    """A file or folder of the project; of a file maybe the lines *first* to *last* only."""

    path: str
    kind: Literal["file", "folder"]
    size: int
    first: int = 1
    last: int | None = None


def names_in(text: str) -> list[str]:
    """Return what stands behind each `@` of *text*, once each, not too many; code between fences
    has none.
    """
    if "@" not in text:
        return []
    found = _MENTION.findall(_FENCED.sub("", text))
    return list(dict.fromkeys(quoted or word for quoted, word in found))[:_MAX_NAMES]


def address_in(name: str) -> str:
    """Return the web address that *name* is, "" for none."""
    return _before_wide_mark(name).rstrip(_END_MARKS) if _ADDRESS.fullmatch(name) else ""


def symbol_in(name: str) -> str:
    """Return what *name* may call a function or class, `name` or `Class.name`; "" for none."""
    symbol = _before_wide_mark(name).rstrip(".,;:!?").removesuffix("()")
    return symbol if _SYMBOL.fullmatch(symbol) else ""


def named_path(project: Project, name: str) -> NamedPath | None:
    """Return what of *project* is called *name*, without the end of a sentence; or None.

    Chinese goes on behind a mark without a blank.
    """
    short = _before_wide_mark(name)
    candidates = (name, name.rstrip(_END_MARKS), short, short.rstrip(_END_MARKS))
    for candidate in dict.fromkeys(candidates):
        for path, first, last in _readings(candidate):
            if found := _stat(project, path):
                return found._replace(first=first, last=last)
    return None


def _before_wide_mark(name: str) -> str:
    return _WIDE_MARK.split(name, maxsplit=1)[0]


def _readings(name: str) -> Iterator[tuple[str, int, int | None]]:
    """Yield *name* as a path, and as a path with lines behind it."""
    yield name, 1, None
    if lines := _LINES.fullmatch(name):
        first = int(lines[2])
        yield lines[1], first, int(lines[3] or first)


def _stat(project: Project, name: str) -> NamedPath | None:
    if not name:
        return None
    try:
        path = project.resolve(name)
        status = project.stat(path)
    except (ToolError, OSError):
        return None
    if status is None:
        return None
    if stat.S_ISDIR(status.st_mode):
        return NamedPath(path or ".", "folder", 0)
    return NamedPath(path, "file", status.st_size)
