"""Exit codes of checks: which say that a project is not right, and which say nothing of it."""

from __future__ import annotations

from core.conversation.proof import NOT_THERE

_NO_TESTS = 5
"""The exit code of pytest, and of newer unittest, where there are no tests."""
_LACKING = "No module named pytest"


def was_run(command: str, exit_code: int | None, output: str = "") -> bool:
    """Return whether *command* came to an end of its own that says something.

    *output* is what it put out, as far as that is known.
    """
    if exit_code is None or exit_code in NOT_THERE:
        return False
    if exit_code == _NO_TESTS and ("pytest" in command or "unittest" in command):
        return False
    return exit_code == 0 or _LACKING not in output[-2_000:]


def says_red(command: str, exit_code: int | None, output: str = "") -> bool:
    """Return whether how *command* ended says that something is not right."""
    return was_run(command, exit_code, output) and exit_code != 0
