"""Other agents' names for our tools and parameters, understood where they can mean one thing."""

from __future__ import annotations

from typing import Any

import pytest

from core.cards import TextCard
from core.tool_aliases import resolve_call
from core.tool_spec import ProgramArgument
from core.tools import Outcome, Risk, Toolbox, tool


class Files:
    @tool(Risk.WRITE)
    def create_file(self, path: str, content: str, overwrite: bool = False) -> Outcome:
        """Make a file."""
        return Outcome(path, TextCard(path, content))

    @tool(Risk.WRITE)
    def modify_file(self, path: str, operation: str, old: str = "", new: str = "") -> Outcome:
        """Change a file."""
        return Outcome(path, TextCard(path, old + new + operation))

    @tool(Risk.WRITE)
    def rename_file(self, path: str, new_path: str) -> Outcome:
        """Rename a file."""
        return Outcome(path, TextCard(path, new_path))

    @tool(Risk.RUN, program=ProgramArgument("bash", "command"))
    def run_command(self, command: str) -> Outcome:
        """Run a command."""
        return Outcome(command, TextCard(command, ""))


TOOLS = Toolbox.of([Files()])
FILE = {"path": "a.txt", "content": "hi"}


@pytest.mark.parametrize(
    "name",
    ["create_file", "functions.create_file", "CreateFile", "createFile", "create-file",
     "default_api.create_file", " create_file "],
)  # fmt: skip
def test_a_name_is_known_by_any_spelling(name: str) -> None:
    assert resolve_call(TOOLS, name, FILE) == ("create_file", FILE)


def test_an_unknown_name_stays() -> None:
    assert resolve_call(TOOLS, "make_file", {"x": 1}) == ("make_file", {"x": 1})


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"file_path": "a.txt", "content": "hi"}, FILE),
        ({"filePath": "a.txt", "content": "hi"}, FILE),
        ({"filename": "a.txt", "contents": "hi"}, FILE),
        ({**FILE, "description": "Make it."}, FILE),
        ({"name": "a.txt", "content": "hi"}, FILE),
        ({"path": ["a.txt"], "content": "hi"}, FILE),
        ({**FILE, "overwrite": ""}, FILE),
        ({"properties": FILE, "type": "object"}, FILE),
        ({"arguments": '{"path": "a.txt", "content": "hi"}'}, FILE),
    ],
)
def test_another_name_of_a_parameter_is_understood(
    given: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert resolve_call(TOOLS, "create_file", given) == ("create_file", meant)


def test_edits_of_other_agents_are_understood() -> None:
    given = {"file_path": "a", "operation": "replace", "old_string": "x", "new_string": "y"}
    meant = {"path": "a", "operation": "replace", "old": "x", "new": "y"}
    assert resolve_call(TOOLS, "modify_file", given) == ("modify_file", meant)
    given = {"path": "a", "operation": "append", "content": "x"}
    meant = {"path": "a", "operation": "append", "new": "x"}
    assert resolve_call(TOOLS, "modify_file", given) == ("modify_file", meant)
    given = {"source": "a", "destination": "b"}
    assert resolve_call(TOOLS, "rename_file", given)[1] == {"path": "a", "new_path": "b"}


@pytest.mark.parametrize(
    "given",
    [
        {"path": "a", "file_path": "b", "content": "hi"},
        {"file_path": "a", "filename": "b", "content": "hi"},
        {**FILE, "force": True},
    ],
    ids=["two paths", "two other names", "unknown"],
)
def test_what_can_mean_two_things_is_left_as_it_is(given: dict[str, Any]) -> None:
    assert resolve_call(TOOLS, "create_file", given) == ("create_file", given)


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        (["ls", "-l", "a b"], "ls -l 'a b'"),
        (["bash", "-lc", "ls | wc -l"], "bash -lc 'ls | wc -l'"),
        (["ls -l"], "ls -l"),
    ],
)
def test_a_command_in_words_is_one_line(command: list[str], meant: str) -> None:
    assert resolve_call(TOOLS, "run_command", {"command": command}) == (
        "run_command",
        {"command": meant},
    )


@pytest.mark.parametrize("path", [[], ["a", "b"], [1], [["a"]], {"value": "a"}])
def test_what_is_no_one_text_stays(path: Any) -> None:
    given = {"path": path, "content": "hi"}
    assert resolve_call(TOOLS, "create_file", given) == ("create_file", given)
