"""Other agents' names for our tools and parameters, understood where they can mean one thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.cards import TextCard
from core.tool_aliases import resolve_call
from core.tool_spec import ProgramArgument
from core.tools import Outcome, Risk, Toolbox, tool
from tests.assembly import assembled_terminal


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


EDIT = {"path": "a", "operation": "replace", "old": "x", "new": "y"}
FOREIGN: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("Read", {"file_path": "/a"}, "read_file", {"path": "/a"}),
    ("Read", {"file_path": "a", "offset": 3, "limit": 4}, "read_file",
     {"path": "a", "start_line": 3, "end_line": 6}),
    ("Read", {"file_path": "a", "limit": 4}, "read_file",
     {"path": "a", "start_line": 1, "end_line": 4}),
    ("Read", {"file_path": "a", "offset": None, "limit": None}, "read_file", {"path": "a"}),
    ("Read", {"file_path": "a", "offset": 0}, "read_file", {"path": "a", "start_line": 1}),
    ("create_filecreate_file", FILE, "create_file", FILE),
    ("view_file", {"AbsolutePath": "a", "StartLine": 1, "EndLine": 9}, "read_file",
     {"path": "a", "start_line": 1, "end_line": 9}),
    ("Write", {"file_path": "a.txt", "content": "hi"}, "create_file", FILE),
    ("write_file", FILE, "create_file", FILE),
    ("writeFile", FILE, "create_file", FILE),
    ("functions.write_file", FILE, "create_file", FILE),
    ("write_to_file", {**FILE, "task_progress": "1/2"}, "create_file", FILE),
    ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, "modify_file", EDIT),
    ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True},
     "modify_file", {**EDIT, "all": True}),
    ("replace", {"file_path": "a", "old_string": "x", "new_string": "y", "instruction": "I",
                 "expected_replacements": 1}, "modify_file", EDIT),
    ("str_replace_editor", {"command": "view", "path": "a"}, "read_file", {"path": "a"}),
    ("str_replace_editor", {"command": "view", "path": "a", "view_range": [2, -1]}, "read_file",
     {"path": "a", "start_line": 2}),
    ("str_replace_editor", {"command": "create", "path": "a.txt", "file_text": "hi"},
     "create_file", FILE),
    ("str_replace_based_edit_tool", {"command": "str_replace", "path": "a", "old_str": "x",
     "new_str": "y"}, "modify_file", EDIT),
    ("str_replace_editor", {"command": "insert", "path": "a", "insert_line": 2, "new_str": "y"},
     "modify_file", {"operation": "insert", "path": "a", "start_line": 3, "new": "y"}),
    ("str_replace_based_edit_tool", {"command": "insert", "path": "a", "insert_line": 0,
     "insert_text": "y"}, "modify_file",
     {"operation": "insert", "path": "a", "start_line": 1, "new": "y"}),
    ("TodoWrite", {"todos": [{"content": "Look", "status": "in_progress", "activeForm": "Looking",
     "id": "1", "priority": "high"}]}, "update_todos",
     {"todos": [{"title": "Look", "status": "in_progress"}]}),
    ("update_plan", {"explanation": "So.", "plan": [{"step": "Look", "status": "pending"}]},
     "update_todos", {"todos": [{"title": "Look", "status": "pending"}]}),
    ("Glob", {"pattern": "*.py"}, "find_files", {"pattern": "*.py"}),
    ("Grep", {"pattern": "a.c", "output_mode": "content", "-n": True, "-i": True, "glob": "*.py"},
     "search_text", {"regex": True, "pattern": "a.c", "ignore_case": True, "glob": "*.py"}),
    ("search_file_content", {"pattern": "a.c", "include": "*.py"}, "search_text",
     {"regex": True, "pattern": "a.c", "glob": "*.py"}),
    ("LS", {"path": "src"}, "list_files", {"path": "src"}),
    ("list_directory", {}, "list_files", {}),
    ("bash", {"command": "ls", "description": "Look."}, "run_command", {"command": "ls"}),
    ("Bash", {"command": "x", "run_in_background": True}, "run_command",
     {"command": "x", "background": True}),
    ("execute_command", {"command": "ls", "requires_approval": False}, "run_command",
     {"command": "ls"}),
    ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "run_command",
     {"command": "bash -lc 'ls | wc'"}),
    ("python", {"code": "1"}, "run_python", {"code": "1"}),
    ("mkdir", {"path": "a"}, "create_folder", {"path": "a"}),
    ("move_file", {"source": "a", "destination": "b"}, "rename_file",
     {"path": "a", "new_path": "b"}),
    ("modify_file", {"path": "a", "old": "x", "new": "y"}, "modify_file", EDIT),
]  # fmt: skip


def test_the_tools_of_other_agents_are_understood(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as test:
        tools = test.terminal.tools
        wrong = [
            (name, given, meant)
            for name, given, tool_name, arguments in FOREIGN
            if (meant := resolve_call(tools, name, given)) != (tool_name, arguments)
        ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("ls", {}),  # a word that may be any
        ("Read", {"file_path": "a", "pages": "1-5"}),
        ("Read", {"file_path": "a", "offset": "x"}),
        ("Read", {"file_path": "a", "view_range": [1, 2], "limit": 3}),
        ("Write", {"file_path": "a"}),
        ("edit_file", {"path": "a", "content": "x"}),
        ("modify_file", {"path": "a", "new": "x"}),
        ("bash", {"restart": True}),
        ("str_replace_editor", {"command": "undo_edit", "path": "a"}),
        ("str_replace_editor", {"path": "a"}),
        ("str_replace_editor", {"command": "insert", "path": "a", "new_str": "y"}),
        (
            "str_replace_editor",
            {"command": "insert", "path": "a", "insert_line": "x", "new_str": "y"},
        ),
        ("TodoWrite", {"todos": [{"content": "Look", "status": "cancelled"}]}),
        ("TodoWrite", {"todos": [{"status": "pending"}]}),
        ("TodoWrite", {"todos": "Look"}),
        ("search_files", {"path": ".", "pattern": "x"}),  # names with some, texts with others
        ("run_code", {"code": "1"}),  # in which language?
        ("apply_patch", {"patch": "x"}),
    ],
)
def test_a_foreign_call_that_does_not_fit_stays(
    tmp_path: Path, name: str, given: dict[str, Any]
) -> None:
    with assembled_terminal(tmp_path) as test:
        assert resolve_call(test.terminal.tools, name, given) == (name, given)
