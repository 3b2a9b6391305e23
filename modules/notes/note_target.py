"""What a line of `/note` is about: a file, or lines of one, and the words for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from core.tools import ToolError
from modules.files.fingerprints import stat_or_none
from modules.files.project import Project
from utils.frozen import frozen
from utils.i18n import phrase

_LINES = re.compile(r":([0-9]{1,9})(?:-([0-9]{1,9}))?$")


@frozen
class NoteTarget:
    """The file *path*, or its lines *start* to *end* where these are not 0, and what to note."""

    path: str
    text: str
    start: int = 0
    end: int = 0

    @classmethod
    def parse(cls, project: Project, argument: str) -> NoteTarget:
        """Return what *argument* says: a path may be quoted, or hold blanks if it is there.

        A file that is called as "a:3" is meant before lines of "a". Raises `ToolError`.
        """
        for name, text in _readings(argument):
            for path, lines in _targets(name):
                with suppress(ToolError):
                    normal = project.normalize(path)
                    if stat_or_none(project, normal) is not None:
                        return cls(normal, text, *_checked(lines))
        name, text = next(_readings(argument, is_first_word=True))
        path, lines = [*_targets(name)][-1]
        return cls(project.normalize(path), text, *_checked(lines))


def _readings(argument: str, *, is_first_word: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what may be the path of *argument* with the rest of it, the longest path first."""
    if argument[0] in "'\"" and (end := argument.find(argument[0], 1)) > 0:
        lines, _, text = argument[end + 1 :].partition(" ")
        name, rest = argument[1:end], argument[end + 1 :]
        yield (name + lines, text.strip()) if _LINES.fullmatch(lines) else (name, rest.strip())
    words = argument.split(" ")
    for count in [1] if is_first_word else range(len(words), 0, -1):
        name = " ".join(words[:count])
        yield name.removeprefix("@"), argument[len(name) :].strip()


def _targets(name: str) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Yield what *name* may mean: a file, or lines of one."""
    yield name, None
    if match := _LINES.search(name):
        start = int(match[1])
        yield name[: match.start()], (start, int(match[2]) if match[2] else start)


def _checked(lines: tuple[int, int] | None) -> tuple[int, int]:
    if lines is None:
        return 0, 0
    if not 1 <= lines[0] <= lines[1]:
        raise ToolError(phrase("Lines count from 1, the first before the last: 3-5."))
    return lines
