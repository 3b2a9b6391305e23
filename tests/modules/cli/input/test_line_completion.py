import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from core.feature import Command, CommandSpec
from core.tools import ToolError
from modules.cli.input.line_completion import LineCompleter, best_matches
from modules.translator import Translator

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
