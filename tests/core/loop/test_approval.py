from __future__ import annotations

import pytest

from core.loop.approval import covers, pattern_for, subject


@pytest.mark.parametrize(
    ("allowed", "later", "is_covered"),
    [
        ("git status", "git status", True),
        ("git status", "git status -s", True),
        ("git status", "git statusx", False),
        ("git status -s", "git status", True),
        ("git status", "git push", False),
        ("git status", "git status; rm -rf x", False),
        ("git status", "git status && rm x", False),
        ("git status", "git status `rm x`", False),
        ("git status", "git status $(rm x)", False),
        ("git status", "git status\nrm x", False),
        ("git status", "git status > x", False),
        ("ls | wc", "ls | wc", True),
        ("rm -rf *", "rm -rf *", True),
        ("rm -rf *", "rm -rf src", False),
        ("rm -rf *", r"rm -rf \*", False),
        (r"find . -name \*", r"find . -name \*", True),
        (r"find . -name \*", "find . -name *", False),
        ("ls | wc", "ls | wc -l", False),
        ("make", "make", True),
        ("make", "make clean", True),
        ("make", "makefoo", False),
    ],
)
def test_always_to_a_command_never_reaches_past_a_shell_operator(
    allowed: str, later: str, is_covered: bool
) -> None:
    pattern = pattern_for("run_command", {"command": allowed})
    assert covers(pattern, subject("run_command", {"command": later})) is is_covered


def test_always_to_another_tool_covers_its_calls_and_no_other_tool() -> None:
    pattern = pattern_for("modify_file", {"path": "a"})
    assert covers(pattern, "modify_file b; c")
    assert not covers(pattern, "delete_folder b")


def test_always_to_what_deletes_covers_that_alone() -> None:
    pattern = pattern_for("delete_file", {"path": "a b"})
    assert covers(pattern, "delete_file a b")
    assert not covers(pattern, "delete_file b")
    assert not covers(pattern, "delete_file a b c")


def test_leave_to_run_is_not_leave_to_use_the_network() -> None:
    plain = {"command": "pip install six"}
    reaching = {**plain, "network": True}
    assert pattern_for("run_command", plain) == "run_command pip install *"
    assert pattern_for("run_command", reaching) == "run_command+network pip install *"
    assert pattern_for("run_python", {"code": "x", "network": True}) == "run_python+network *"
    line = subject("run_command", reaching)
    assert covers("run_command+network pip install *", line)
    assert not any(covers(p, line) for p in ("run_command pip install *", "run_command *"))
    evil = subject("run_command", {"command": "pip install x; rm y", "network": True})
    assert not covers("run_command+network pip install *", evil)


def test_leave_to_write_is_not_leave_to_change_what_git_obeys() -> None:
    hook = {"path": ".git/hooks/x", "content": ""}
    line = subject("create_file", hook)
    assert not covers("create_file *", line)
    assert pattern_for("create_file", hook) == line == "create_file+git .git/hooks/x"
    moved = subject("rename_file", {"path": ".git/a", "new_path": "b"})
    assert not covers(pattern_for("rename_file", {"path": ".git/a", "new_path": "c"}), moved)
    assert covers("create_file *", subject("create_file", {"path": ".gitignore"}))
