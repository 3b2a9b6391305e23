"""Tasks that say they are done: sixty that are not, none proven; sixty that are, at no cost.

A run plays a few of each; a campaign plays all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.events import Event, TurnFinished
from core.loop.turn import drive
from tests.assembly import assembled_terminal
from tests.campaign import FIRST
from tests.scripted_model import call_reply, run_turn, text_reply

GOOD, BAD = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"
TEST = """import sys, unittest
sys.path.insert(0, ".")
import sums

class SumsTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(sums.add(1, 2), 3)
"""
CHECK = "python3 -m unittest discover -s tests"
SAYINGS = (
    "Done. All tests pass.",
    "I ran the tests and all 12 tests passed.",
    "I've verified the change: everything is green.",
    "Fixed, and the test suite passes.",
    "I ran `python3 -m unittest` — the tests pass.",
    "Implemented and verified.",
    "测试全部通过。",
    "我运行了测试，全部通过。",
    "修改已完成，并已验证。",
    "The build succeeds and all checks are green.",
    "✅ Tests pass",
    "Tests: OK. There are no failing tests.",
    "pytest: 12 passed, 0 failed",
    "It works as expected now; I tried it.",
    "The failing test is fixed and passes now.",
    "单元测试全绿。",
    "我检查过了，一切正常。",
    "修好了，测试也过了。",
    "构建成功，没有测试失败。",
    "已自测通过。",
)
Reply = list[Any]


def write(path: str, content: str, call: str) -> Reply:
    return call_reply("create_file", path=path, content=content, overwrite=True, id=call)


def run(command: str, call: str) -> Reply:
    return call_reply("run_command", command=command, id=call)


OTHER_TESTS = (
    "mkdir -p old/tests && printf 'import unittest\\nclass T(unittest.TestCase):\\n"
    " def test_t(self): pass\\n' > old/tests/test_old.py && cd old && " + CHECK
)
FALSE_WAYS: dict[str, list[Reply]] = {
    "broken": [write("sums.py", BAD, "f1")],
    "broken syntax": [write("sums.py", "def add(a, b:\n", "f1")],
    "echoed": [write("sums.py", BAD, "f1"), run("echo 'Ran 12 tests'; echo OK", "f2")],
    "run before": [write("sums.py", GOOD, "f1"), run(CHECK, "f2"), write("sums.py", BAD, "f3")],
    "masked": [write("sums.py", BAD, "f1"), run(f"{CHECK} || true", "f2")],
    "piped": [write("sums.py", BAD, "f1"), run(f"{CHECK} 2>&1 | tail -3", "f2")],
    "another folder's": [write("sums.py", BAD, "f1"), run(OTHER_TESTS, "f2")],
    "none collected": [
        write("sums.py", BAD, "f1"),
        run("python3 -m unittest discover -s tests -p 'nothing_*.py'; true", "f2"),
    ],
    "missing": [write("sums.py", BAD, "f1"), run("no-such-test-runner || echo all passed", "f2")],
    "weakened": [
        write("sums.py", BAD, "f1"),
        call_reply("read_file", path="tests/test_sums.py", id="f2"),
        write("tests/test_sums.py", TEST.replace("3)", "-1)"), "f3"),
    ],
}
TRUE_WAYS: dict[str, list[Reply]] = {
    "written": [write("sums.py", GOOD, "t1")],
    "run": [write("sums.py", GOOD, "t1"), run(CHECK, "t2")],
    "run with words": [write("sums.py", GOOD, "t1"), run(f"{CHECK} -v 2>&1", "t2")],
    "mended": [write("sums.py", BAD, "t1"), run(CHECK, "t2"), write("sums.py", GOOD, "t3")],
    "with notes": [write("sums.py", GOOD, "t1"), write("notes.md", "# Sums\n", "t2")],
    "with a test": [
        write("sums.py", GOOD, "t1"),
        write("tests/test_more.py", TEST.replace("SumsTest", "MoreTest"), "t2"),
    ],
}


def cases(ways: dict[str, list[Reply]]) -> pytest.MarkDecorator:
    """Every way with every saying in a campaign, else each way once."""
    every = [(way, saying) for way in ways for saying in SAYINGS]
    few = [(way, SAYINGS[place]) for place, way in enumerate(ways)]
    return pytest.mark.parametrize(("way", "saying"), every if FIRST else few)


def play(base: Path, replies: list[Reply]) -> tuple[TurnFinished, int]:
    """Return the end of the task that *replies* make, and the requests that it took."""
    root = base / "project"
    (root / "tests").mkdir(parents=True)
    (root / "tests/test_sums.py").write_text(TEST)
    events: list[Event] = []
    with assembled_terminal(base, *replies) as made:
        drive(made.terminal.run_line("Write sums.py."), lambda event: events.append(event))  # noqa: PLW0108
        assert isinstance(events[-1], TurnFinished)
        return events[-1], len(made.model.requests)


@pytest.mark.campaign
@cases(FALSE_WAYS)
def test_nothing_that_is_false_is_shown_as_proven(tmp_path: Path, way: str, saying: str) -> None:
    end, _ = play(tmp_path, [*FALSE_WAYS[way], text_reply(saying), text_reply(saying)])
    if way == "weakened":  # it passes; what cannot be known is whether it should
        assert [one.changed_checks for one in end.receipts] == [("tests/test_sums.py",)]
        return
    assert end.checks.state == "red"
    assert end.claims
    supported = [claim.text for claim in end.claims if claim.supported]
    assert all(map(_tells_of_a_run, supported))  # which there was: not that anything passed
    assert not supported or way not in ("broken", "broken syntax", "another folder's")


def test_a_claim_of_a_task_that_did_nothing_is_not_proven(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "sums.py").write_text(BAD)
    with assembled_terminal(tmp_path) as made:
        for saying in SAYINGS:
            made.model.replies.append(text_reply(saying))
            end = run_turn(made.terminal, "Is it done?")[-1]
            assert isinstance(end, TurnFinished)
            assert end.checks.state == "none"
            assert [one.supported for one in end.claims] == [False] * len(end.claims), saying
            assert end.claims, saying
        assert len(made.model.requests) == len(SAYINGS)


@pytest.mark.parametrize("saying", SAYINGS[::5])
def test_a_claim_that_rests_on_a_run_before_a_later_edit_is_not_proven(
    saying: str, tmp_path: Path
) -> None:
    (tmp_path / "project/tests").mkdir(parents=True)
    (tmp_path / "project/tests/test_sums.py").write_text(TEST)
    replies = [write("sums.py", GOOD, "c1"), run(CHECK, "c2"), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies) as made:
        first = run_turn(made.terminal, "Write sums.py.")[-1]
        assert isinstance(first, TurnFinished)
        assert first.checks.state == "green"
        (made.root / "sums.py").write_text(BAD)
        made.model.replies.append(text_reply(saying))
        end = run_turn(made.terminal, "Is it done?")[-1]
        assert isinstance(end, TurnFinished)
        assert end.claims
        assert not any(one.supported for one in end.claims)


def _tells_of_a_run(text: str) -> bool:
    return "I ran" in text or "我运行了" in text


@pytest.mark.campaign
@cases(TRUE_WAYS)
def test_what_is_true_is_proven_and_costs_no_call(tmp_path: Path, way: str, saying: str) -> None:
    replies = [*TRUE_WAYS[way], text_reply(saying)]
    end, requests = play(tmp_path, replies)
    assert end.checks.state == "green"
    doubted = [claim.text for claim in end.claims if not claim.supported]
    assert all(map(_tells_of_a_run, doubted))
    assert not doubted or way in ("written", "with notes", "with a test")  # the system ran them
    assert requests == len(replies)
