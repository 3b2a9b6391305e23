"""Functions and classes of the project, found by name."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.tools import ToolError
from modules.files.project import Project
from utils.i18n import UserError
from utils.text.lines import lines_of

MAX_FOUND = 3
"""Definitions of one name that are told."""
_MAX_FILES = 5_000
_MAX_FILE_BYTES = 1_000_000
_MAX_TOTAL_BYTES = 50_000_000
_MAX_LINES = 200  # of a definition whose end cannot be parsed
_NAME = re.compile(r"[^\W\d]\w{2,}(?:\.[^\W\d]\w*)*")
_SUFFIXES = (
    *(".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".go", ".rs", ".java", ".kt"),
    *(".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rb", ".php", ".swift", ".scala", ".lua", ".sh"),
)
_WORDS = "class|interface|struct|enum|trait|type|module|object|func|fun|fn|function|def"


class Definition(NamedTuple):
    """The lines *first* to *last* of the file *path*, in which something is defined."""

    path: str
    first: int
    last: int


def is_symbol(name: str) -> bool:
    """Return whether *name* may be that of a function or class: `name`, or `Class.name`."""
    return _NAME.fullmatch(name) is not None


def find_definitions(project: Project, name: str) -> Sequence[Definition]:
    """Return where *name* is defined in *project*: few, of a bounded look at its sources."""
    try:
        paths = [path for path in project.files() if path.endswith(_SUFFIXES)]
    except (OSError, UserError, ToolError):
        return ()
    needle, total = name.rpartition(".")[2].encode(), 0
    found: list[Definition] = []
    for path in paths[:_MAX_FILES]:
        try:
            data = project.read_bytes(path, _MAX_FILE_BYTES)
        except (OSError, UserError, ToolError):  # it is gone, or no file to be read
            continue
        total += len(data)
        if needle in data:
            text = data.decode("utf-8", "replace")
            found += [Definition(path, *lines) for lines in _lines_of(path, text, name)]
        if len(found) >= MAX_FOUND or total > _MAX_TOTAL_BYTES:
            break
    return found[:MAX_FOUND]


def _lines_of(path: str, text: str, name: str) -> Iterator[tuple[int, int]]:
    if path.endswith((".py", ".pyi")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes in the person's code
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            yield from _matching_lines(text, name)
            return
        yield from _defined_in(tree, name.split("."))
    else:
        yield from _matching_lines(text, name)


def _defined_in(node: ast.AST, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines of what *names*, one within the other, are called, at any depth."""
    pending = [node]
    while pending:
        for child in ast.iter_child_nodes(pending.pop(0)):
            pending.append(child)
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if child.name == names[0] and len(names) > 1:
                yield from _defined_in(child, names[1:])
            elif child.name == names[0]:
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield first, child.end_lineno or first


def _matching_lines(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield the lines of definitions by their first words, and by how far they are indented."""
    last = re.escape(name.rpartition(".")[2])
    pattern = re.compile(
        rf"^[ \t]*(?:[\w()]+[ \t]+){{0,4}}(?:{_WORDS})\*?[ \t]+(?:\([^)\n]*\)[ \t]*)?{last}\b"
        rf"|^[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+{last}[ \t]*="
        r"[ \t]*(?:async[ \t]*)?(?:function\b|\(|\w+[ \t]*=>)"
    )
    lines = lines_of(text)
    for number, line in enumerate(lines, 1):
        if pattern.match(line):
            yield number, _end_of(lines, number)


def _end_of(lines: Sequence[str], first: int) -> int:
    """Return the last line of what begins at *first*: before one that is indented no further."""
    indent = _indent(lines[first - 1])
    for number in range(first + 1, min(len(lines), first + _MAX_LINES) + 1):
        line = lines[number - 1]
        if line.strip() and _indent(line) <= indent:
            is_end = re.match(r"\s*(?:[})\]]|end\b)", line)
            is_opened = re.match(r"\s*[{]", line)
            if is_opened:
                continue
            return number if is_end else number - 1
    return min(len(lines), first + _MAX_LINES)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
