"""The names behind an `@` in a message."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from core.tools import ToolError
from modules.files.project import Project
from utils.frozen import frozen

MAX_MENTIONS = 10
"""Names of one message that are read."""
_MAX_NAMES = 200
"""Names of one message that are looked at: a pasted file has many that are nothing."""
_SYMBOL = r"[^\W\d]\w{2,}(?:\.[^\W\d]\w*){0,9}"
_HAN = "\u3400-\u9fff"
NAME_START = rf"(?:^|(?<=[\s(（「“《，。；：！？、{_HAN}]))"
"""Where a name may begin: Chinese has no blanks between words."""
_MENTION = rf"""(?m){NAME_START}@(?:"([^"\n]+)"|(\S+?(?=[，。；：！？、][^\s@]*@)|\S+))"""
_FILE_BEFORE_WORDS = rf"(.+?\.[A-Za-z]\w*?)(?=[{_HAN}])"
_FENCED = r"(?ms)^(```|~~~).*?^\1"
_LINES = r"(.+?):(\d{1,9})(?:-(\d{1,9}))?"
_ADDRESS = r"https?://\S+"
_END_MARKS = ".,;:!?)'\"，。；：！？）」”、"
_WIDE_MARK = "[，。；：！？、（）「」《》“”]"


@frozen
class NamedPath:
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
    found = re.findall(_MENTION, re.sub(_FENCED, "", text))
    return list(dict.fromkeys(quoted or word for quoted, word in found))[:_MAX_NAMES]


def address_in(name: str) -> str:
    """Return the web address that *name* is, "" for none."""
    if not re.fullmatch(_ADDRESS, name):
        return ""
    address = _before_wide_mark(name)
    while address[-1] in _END_MARKS and not _closes(address):
        address = address[:-1]
    return address


def _closes(address: str) -> bool:
    """Return whether *address* ends with a bracket of its own, as `wiki/Go_(game)` does."""
    return address[-1] == ")" and address.count("(") >= address.count(")")


def symbol_in(name: str) -> str:
    """Return what *name* may call a function or class, `name` or `Class.name`; "" for none."""
    symbol = _before_wide_mark(name).rstrip(".,;:!?").removesuffix("()")
    return symbol if re.fullmatch(_SYMBOL, symbol) else ""


def named_path(project: Project, name: str) -> NamedPath | None:
    """Return what of *project* is called *name*, without the end of a sentence; or None.

    Chinese goes on behind a mark, and behind the name of a file, without a blank.
    """
    short = _before_wide_mark(name)
    candidates = [name, name.rstrip(_END_MARKS), short, short.rstrip(_END_MARKS)]
    if file := re.match(_FILE_BEFORE_WORDS, name):
        candidates.append(file[1])
    for candidate in dict.fromkeys(candidates):
        for path, first, last in _readings(candidate):
            if found := _stat(project, path):
                return replace(found, first=first, last=last)
    return None


def _before_wide_mark(name: str) -> str:
    return re.split(_WIDE_MARK, name, maxsplit=1)[0]


def _readings(name: str) -> Iterator[tuple[str, int, int | None]]:
    """Yield *name* as a path, and as a path with lines behind it."""
    yield name, 1, None
    if lines := re.fullmatch(_LINES, name):
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
