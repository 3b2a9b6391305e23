"""Whatever can be declared is declared once: no name of a tool or a command stands elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = [
    *(ROOT / name for name in ("main.py", "config.py")),
    *(
        path
        for room in ("core", "modules", "utils")
        for path in sorted((ROOT / room).rglob("*.py"))
    ),
]
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))
PLAYS_THE_MODEL = "modules/practice/"
"""A model has to name tools."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def declared(decorator: str) -> dict[str, str]:
    """Return the name and the file of each method that bears the mark *decorator*."""
    found = {}
    for path in PYTHON:
        for node in nodes(path):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if not (isinstance(mark, ast.Call) and ast.unparse(mark.func) == decorator):
                    continue
                usage = mark.args[0] if decorator == "command" else None
                said = usage.value if isinstance(usage, ast.Constant) else node.name
                found[str(said).split()[0]] = name_of(path)
    return found


def tools() -> dict[str, str]:
    return declared("tool")


def commands() -> dict[str, str]:
    return declared("command")


@cache
def tool_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/])({'|'.join(tools())})(?!\w)")


@cache
def literals(path: Path) -> list[tuple[int, str]]:
    """Return the line and the text of every string in *path* but for docstrings."""
    told = {
        id(node.value)
        for node in nodes(path)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    found: list[tuple[int, str]] = []
    for node in nodes(path):
        if isinstance(node, ast.Constant) and id(node) not in told:
            if isinstance(node.value, str):
                found.append((node.lineno, node.value))
            elif isinstance(node.value, bytes):
                found.append((node.lineno, node.value.decode("latin-1")))
    return found


def words_of_script(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every line of the code of *path*, comments left out."""
    text = re.sub(
        r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), path.read_text("utf-8"), flags=re.S
    )
    for number, line in enumerate(text.split("\n"), 1):
        yield number, re.sub(r"(?<![:'\"`\\])//.*", "", line)


def tools_in(text: str) -> list[str]:
    """Return the tools that *text* names; one of a single plain word only if it is all of it."""
    return [name for name in tool_pattern().findall(text) if "_" in name or name == text]


def test_the_names_are_found() -> None:
    assert {"read_file", "remember", "web_search"} <= tools().keys()
    assert {"/undo", "/model", "/help"} <= commands().keys()
    assert tools_in("see run_python.") == ["run_python"]
    assert tools_in("remember the milk") == []


def test_no_tool_is_named_outside_its_own_file() -> None:
    assert [
        f"{name_of(path)}:{line} names {tool}"
        for path in PYTHON
        if not name_of(path).startswith(PLAYS_THE_MODEL)
        for line, text in literals(path)
        for tool in tools_in(text)
        if tools()[tool] != name_of(path)
    ] == []


def test_no_command_is_named_outside_its_own_file_but_to_people() -> None:
    """A sentence may name one: it tells people what to type."""
    assert [
        f"{name_of(path)}:{line} names {text}"
        for path in PYTHON
        for line, text in literals(path)
        if 1 <= len(text.split()) <= 2
        and commands().get(text.split()[0], name_of(path)) != name_of(path)
    ] == []


def test_no_script_of_the_page_names_a_tool_or_a_command() -> None:
    assert [found for path in SCRIPTS for found in named_in_script(path)] == []


def named_in_script(path: Path) -> Iterator[str]:
    a_command = rf"""["'`]({"|".join(map(re.escape, commands()))})(?=["'` ])"""
    a_tool = rf"""["'`.\[{{,\s]({"|".join(tools())})\b(?=["'`:\]])"""
    for number, line in words_of_script(path):
        for match in [
            *re.findall(a_command, line),
            *(name for name in re.findall(a_tool, line) if "_" in name or f'"{name}"' in line),
        ]:
            yield f"{name_of(path)}:{number} names {match}"
