import json
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from core.feature import Command, CommandSpec
from core.tools import ToolError
from modules.cli.input.line_completion import LineCompleter, best_matches
from modules.translator import Translator
from tests.assembly import assembled_terminal

FILES = ["src/main.py", "src/报告 final.md", "docs/domain.md", "a\nb", "README.md"]
COMMANDS = {
    name: Command(CommandSpec(usage, "Help."), lambda _: None)
    for name, usage in {"/note": "/note PATH TEXT", "/new": "/new", "/undo": "/undo"}.items()
}


def complete(text: str, files: list[str] | Exception = FILES) -> list[str]:
    """Return the line as each completion would leave it."""

    def list_files() -> list[str]:
        if isinstance(files, Exception):
            raise files
        return files

    completer = LineCompleter(COMMANDS, list_files, Translator("en", {}))
    found = completer.get_completions(Document(text), CompleteEvent())
    return [text[: len(text) + one.start_position] + one.text for one in found]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("/n", ["/note", "/new"]),
        ("/x", []),
        ("/new ", []),
        ("/note ma", ["/note src/main.py", "/note docs/domain.md"]),
        ("look at @main", ["look at @src/main.py", "look at @docs/domain.md"]),
        ("@报", ['@"src/报告 final.md"']),
        ('see @"报告 f', ['see @"src/报告 final.md"']),
        ("@rdme", ["@README.md"]),
        ("me@example", []),
        ("看看@main", ["看看@src/main.py", "看看@docs/domain.md"]),
        ("plain words", []),
    ],
)
def test_commands_and_paths_are_completed(text: str, lines: list[str]) -> None:
    assert complete(text) == lines


def test_a_name_that_cannot_be_typed_is_left_out() -> None:
    assert "@a\nb" not in complete("@")


@pytest.mark.parametrize("error", [OSError("gone"), ToolError("gone")])
def test_a_folder_that_cannot_be_listed_completes_nothing(error: Exception) -> None:
    assert complete("@main", error) == []


def test_the_best_come_first_and_not_too_many() -> None:
    paths = [f"tests/deep/x{n}.py" for n in range(100)] + ["x.py", "ax.py"]
    assert best_matches(paths, "X", 3) == ["x.py", "tests/deep/x0.py", "tests/deep/x1.py"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("/tools o", ["/tools on", "/tools off"]),
        ("/tools read_f", ["/tools read_file"]),
        ("/tools read_file o", ["/tools read_file on", "/tools read_file off"]),
        ("/tools new  of", ["/tools new  off"]),
        ("/tools text v", ["/tools text vcp"]),
        ("/tools on ", []),
        ("/mcp a", ["/mcp allow", "/mcp alpha"]),
        ("/mcp s", ["/mcp sign-in", "/mcp sign-out"]),
        ("/mcp restart ", ["/mcp restart alpha", "/mcp restart 乙"]),
        ("/mcp restart alpha ", []),
        ("/hooks ", ["/hooks allow"]),
        ("/secrets ", ["/secrets on", "/secrets off"]),
        ("/approve l", ["/approve list"]),
        ("/status ", []),
    ],
)
def test_what_commands_take_is_completed(tmp_path: Path, text: str, lines: list[str]) -> None:
    (tmp_path / "data").mkdir()
    servers = {name: {"command": "python3"} for name in ("alpha", "乙", "two\nlines")}
    (tmp_path / "data/mcp.json").write_text(json.dumps({"mcpServers": servers}))
    with assembled_terminal(tmp_path) as made:
        completer = LineCompleter(made.terminal.commands, list, Translator("en", {}))
        found = completer.get_completions(Document(text), CompleteEvent())
        assert [text[: len(text) + one.start_position] + one.text for one in found] == lines


def test_a_command_whose_words_cannot_be_read_completes_nothing() -> None:
    def fail(_: object) -> list[str]:
        raise ToolError("gone")

    commands = {"/x": Command(CommandSpec("/x [a]", "Help."), str, completes=fail)}
    completer = LineCompleter(commands, list, Translator("en", {}))
    assert list(completer.get_completions(Document("/x "), CompleteEvent())) == []
