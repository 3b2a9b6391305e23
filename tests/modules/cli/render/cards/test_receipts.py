"""The lines below an answer say what was run, and what of the answer nothing supports."""

from __future__ import annotations

import pytest

from core.conversation.proof import Claim, GreyReason, Receipt
from core.events import TurnFinished
from modules.checks.receipt_texts import state_text
from modules.cli.render.cards.receipts import receipt_lines


def lines(*receipts: Receipt, claims: tuple[Claim, ...] = ()) -> list[tuple[str, str, str]]:
    event = TurnFinished("done", receipts=receipts, claims=claims)
    return [(mark, style, str(line)) for mark, style, line in receipt_lines(event)]


def test_the_last_run_of_a_check_is_told() -> None:
    first = Receipt("make test", 2, "grey", ("a.py",), is_check=True)
    last = Receipt("make test", 0, "green", is_check=True)
    assert lines(first, last) == [("✓", "green", "make test passed (exit code 0)")]
    assert lines(last, first) == [("○", "dim", "make test is outdated: a.py changed")]


def test_a_check_that_cannot_be_run_says_so() -> None:
    missing = Receipt("make tset", 127, "grey", is_check=True)
    assert lines(missing) == [("○", "dim", "make tset could not be run (exit code 127)")]


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (2, "not there", "make test could not be run (exit code 2)"),
        (0, "no tests", "make test found no tests (exit code 0)"),
        (None, "unfinished", "make test did not finish"),
    ],
)
def test_what_says_nothing_says_why(code: int | None, reason: GreyReason, words: str) -> None:
    receipt = Receipt("make test", code, "grey", is_check=True, reason=reason)
    assert lines(receipt) == [("○", "dim", words)]
    assert f"make test {state_text(receipt)}" == words.partition(" (")[0]


def test_a_run_that_changed_files_itself_is_not_said_to_be_outdated() -> None:
    receipt = Receipt("make test", 0, "grey", ("a.py",), is_check=True, reason="own changes")
    assert lines(receipt) == [("○", "dim", "make test changed a.py itself")]
    assert str(state_text(receipt)) == "changed a.py itself"


def test_a_check_that_the_task_changed_is_in_doubt() -> None:
    receipt = Receipt("pytest", 0, "green", changed_checks=("conftest.py",), is_check=True)
    told = "pytest passed, but the task changed the checks themselves: conftest.py"
    assert lines(receipt) == [("✓", "yellow", told)]


def test_other_runs_are_told_where_something_is_claimed() -> None:
    other = Receipt("python3\na.py\x1b[2J", 1, "red")
    assert lines(other) == []
    supported = Claim("I ran it.", True, "receipt")
    doubted = Claim("Tests\x1b pass.", False, "reading")
    assert lines(other, claims=(supported, doubted)) == [
        ("✗", "red", "python3 a.py\\x1b[2J failed (exit code 1)"),
        ("⚠", "yellow", "Not verified by a run, only by reading: Tests\\x1b pass."),
    ]
