from typing import Any

import pytest

from modules.cli.render.cards.call_titles import CallTitles
from tests.declared_tools import SPECS
from utils.i18n import phrase

TITLES = CallTitles(SPECS)


@pytest.mark.parametrize(
    ("name", "arguments", "about"),
    [
        ("read_file", {"path": "a.py", "start_line": 3}, "a.py"),
        ("list_files", {"path": "."}, ""),
        ("find_files", {"path": ".", "pattern": "*.py"}, "*.py"),
        ("search_text", {"pattern": "x", "path": "src"}, "x  src"),
        ("rename_file", {"path": "a", "new_path": "b"}, "a → b"),
        ("run_command", {"command": "make\ncheck"}, "make …"),
        ("run_python", {"code": "print(1)"}, ""),
        ("git_commit", {"message": "Mend it\n\nAll of it."}, "Mend it …"),
        ("rename_file", {"path": "a"}, "a"),
        ("find_files", {"path": "src", "pattern": "*.py"}, "*.py  src"),
        ("other", {"number": 3}, ""),
    ],
)
def test_a_call_is_about_its_telling_argument(
    name: str, arguments: dict[str, Any], about: str
) -> None:
    assert TITLES.subject(name, arguments) == about


def test_a_commit_has_a_verb() -> None:
    assert str(TITLES.verb("git_commit")) == "Commit"


def test_a_question_beside_the_calls_has_a_verb_that_is_translated() -> None:
    assert CallTitles().title("follow", {"path": "a.md"}) == phrase(
        "{verb} {about}", verb=phrase("Follow"), about="a.md"
    )


def test_a_tool_from_elsewhere_is_called_by_its_name() -> None:
    assert TITLES.verb("fetch_mail") == "fetch_mail"
    assert str(TITLES.title("fetch_mail", {"query": "unread\nones"})) == "fetch_mail unread …"


def test_the_question_about_instructions_has_a_verb() -> None:
    assert str(TITLES.title("follow", {"path": "AGENTS.md"})) == "Follow AGENTS.md"
