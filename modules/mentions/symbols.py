"""Functions and classes of the project that a message names, and where they end."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from core.tools import ToolError
from modules.files.project import Project
from modules.symbols.symbol_index import Symbol, SymbolIndex
from utils.i18n import UserError
from utils.text.lines import lines_of
from utils.waiting import Stop

MAX_FOUND = 3
"""Definitions of one name that are told."""
_MAX_FILE_BYTES = 1_000_000
_MAX_LINES = 200  # of a definition whose end cannot be parsed


class Definition(NamedTuple):
    """The lines *first* to *last* of the file *path*, in which something is defined."""

    path: str
    first: int
    last: int


class Definitions:
    """Finds what is defined in *project*, as its index has it; *stop* ends the look for it."""

    def __init__(self, project: Project, stop: Stop) -> None:
        self._project = project
        self._stop = stop
        self._index = SymbolIndex(project, self._files)

    def find(self, names: Collection[str]) -> Mapping[str, Sequence[Definition]]:
        """Return where those of *names* are defined that are, to the letter: few places each."""
        try:
            found = self._index.find_exact(names)
        except (OSError, UserError, ToolError):  # there are no files to be looked at
            return {}
        return {
            name: [self._whole(symbol) for symbol in symbols[:MAX_FOUND]]
            for name, symbols in found.items()
            if not self._stop.is_set()
        }

    def _files(self) -> Collection[str]:
        return list(takewhile(lambda _: not self._stop.is_set(), self._project.files()))

    def _whole(self, symbol: Symbol) -> Definition:
        try:
            data = self._project.read_bytes(symbol.path, _MAX_FILE_BYTES)
        except (OSError, UserError, ToolError):  # it is gone: reading it will say so
            return Definition(symbol.path, symbol.line, symbol.line)
        text = data.decode("utf-8", "replace")
        if symbol.path.endswith((".py", ".pyi", ".pyw")) and (
            lines := _parsed_lines(text, symbol.line)
        ):
            return Definition(symbol.path, *lines)
        return Definition(symbol.path, symbol.line, _end_of(lines_of(text), symbol.line))


def _parsed_lines(text: str, line: int) -> tuple[int, int] | None:
    """Return the lines of what *line* of a Python source defines, its decorators included."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in the person's code
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.lineno == line
        ):
            first = min([line, *(one.lineno for one in node.decorator_list)])
            return first, node.end_lineno or line
    return None


def _end_of(lines: Sequence[str], first: int) -> int:
    """Return the last line of what begins at *first*: before one that is indented no further."""
    if first > len(lines):  # the file has changed
        return first
    indent = _indent(lines[first - 1])
    for number in range(first + 1, min(len(lines), first + _MAX_LINES) + 1):
        line = lines[number - 1]
        if line.strip() and _indent(line) <= indent and not re.match(r"\s*[{]", line):
            return number if re.match(r"\s*(?:[})\]]|end\b)", line) else number - 1
    return min(len(lines), first + _MAX_LINES)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
