"""Exit codes of checks: which say that a project is not right, and which say nothing of it."""

from __future__ import annotations

import re

from core.conversation.proof import NOT_THERE, GreyReason
from modules.sandbox.network.offline import is_refused_offline

_NO_TESTS = 5
"""The exit code of pytest, and of newer unittest, where there are no tests."""
_MAX_OUTPUT = 50_000  # characters, the last ones
_LACKING = re.compile(
    r"No module named (?:pytest|tox|nox|mypy)\s*$"
    r"|^error: (?:rustup could not choose a version of|toolchain '[^']*' is not installed)"
    r"|^(?:g?make|mingw32-make)(?:\[\d+\])?: \*\*\* .*\bError 12[67]\b",
    re.MULTILINE,
)
"""Words of a program that ends for want of another one."""
_NONE_FOUND = re.compile(
    r"^Ran 0 tests\b|^\?\s+\S+\s+\[no test files\]|\[no tests to run\]$|^running 0 tests$"
    r"|^(?:# |\N{INFORMATION SOURCE} )tests 0$|^\s*0 passing\b|^no tests ran\b|\bno tests ran in\b"
    r"|^No tests (?:found|to run)",
    re.MULTILINE | re.IGNORECASE,
)
"""Words of a runner that found no test, and often ends with 0: unittest, Go, cargo, node, mocha."""
_SOME_RAN = re.compile(
    r"^Ran [1-9]\d* tests?\b|^(?:ok|FAIL)\s+\S+\s+(?:\d|\(cached\))(?!.*\[no tests to run\])"
    r"|^running [1-9]\d* tests?$|^(?:# |\N{INFORMATION SOURCE} )tests [1-9]|^\s*[1-9]\d* passing\b"
    r"|\b[1-9]\d* (?:passed|failed)\b",
    re.MULTILINE,
)
"""Words of a runner, maybe of another one of the same check, that found tests."""


def grey_reason(command: str, exit_code: int | None, output: str = "") -> GreyReason:
    """Return why how *command* ended says nothing of the project, "" where it does.

    *output* is what it put out, as far as that is known.
    """
    output = output[-_MAX_OUTPUT:]
    if exit_code is None:
        return "unfinished"
    if exit_code in NOT_THERE:
        return "not there"
    if exit_code == _NO_TESTS and ("pytest" in command or "unittest" in command):
        return "no tests"
    if exit_code == 0:
        return "no tests" if _NONE_FOUND.search(output) and not _SOME_RAN.search(output) else ""
    return "not there" if _LACKING.search(output) or is_refused_offline(output) else ""


def says_red(command: str, exit_code: int | None, output: str = "") -> bool:
    """Return whether how *command* ended says that something is not right."""
    return exit_code != 0 and not grey_reason(command, exit_code, output)
