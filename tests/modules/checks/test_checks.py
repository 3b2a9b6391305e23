"""What a task says of itself is held against what was run: by the system, and only by that."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.conversation.history import CHECKING
from core.conversation.messages import ShellResult, StateRecord
from core.conversation.transcript import replay_events
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Informed,
    Reply,
    ToolFinished,
    TurnFinished,
)
from core.loop.turn import drive
from modules.cli.print_mode import PlainScreen
from modules.translator import Translator
from tests import assembly
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, text_reply

CHECK = "python3 -m unittest discover -s tests"
TEST = """import sys, unittest
sys.path.insert(0, ".")
import sums

class SumsTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(sums.add(1, 2), 3)
"""
GOOD, BAD = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"
DONE = text_reply("Done.")
BROKEN = "import unittest\nraise ValueError\n"


def project(base: Path, **files: str) -> Path:
    """A project with tests, for which the task writes the module."""
    root = base / "project"
    (root / "tests").mkdir(parents=True)
    (root / "tests/test_sums.py").write_text(TEST)
    for name, content in files.items():
        (root / f"{name}.py").write_text(content)
    return root


def write(path: str, content: str, call: str = "c1") -> list[Any]:
    return call_reply("create_file", path=path, content=content, overwrite=True, id=call)


def run(command: str, call: str = "r1") -> list[Any]:
    return call_reply("run_command", command=command, id=call)


def say(made: AssembledTerminal, line: str = "go", yes: bool | None = None) -> list[Event]:
    """Say *line*; answer every question with *yes*, None being nobody."""
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        return Reply(yes=yes) if isinstance(event, ApprovalAsked) and yes is not None else None

    drive(made.terminal.run_line(line), show)
    return events


def end(events: list[Event]) -> TurnFinished:
    assert isinstance(events[-1], TurnFinished)
    return events[-1]


def card(made: AssembledTerminal, line: str) -> Any:
    answer = say(made, line)[-1]
    assert isinstance(answer, CommandAnswered)
    return answer.card


def test_what_passes_costs_no_call_of_the_model_and_no_token(tmp_path: Path) -> None:
    project(tmp_path)
    with assembled_terminal(tmp_path, write("sums.py", GOOD), DONE, text_reply("Hi.")) as made:
        finished = end(say(made))
        assert (finished.why, finished.checks.state) == ("done", "green")
        assert finished.checks.commands == (CHECK,)
        (receipt,) = finished.receipts
        assert (receipt.command, receipt.exit_code, receipt.state) == (CHECK, 0, "green")
        say(made, "hello")
        assert made.model.requests[2][: len(made.model.requests[1])] == made.model.requests[1]
        assert "unittest" not in json.dumps(made.model.requests)


def test_what_fails_is_told_once_and_mended(tmp_path: Path) -> None:
    project(tmp_path)
    replies = [write("sums.py", BAD), DONE, write("sums.py", GOOD, "c2"), text_reply("Mended.")]
    with assembled_terminal(tmp_path, *replies) as made:
        finished = end(say(made))
        assert (finished.why, finished.checks.state) == ("done", "green")
        assert [one.state for one in finished.receipts] == ["grey", "green"]
        assert finished.receipts[0].files == ("sums.py",)
        last, before = made.model.requests[2], made.model.requests[1]
        assert last[: len(before)] == before
        (told,) = last[len(before) + 1 :]  # behind the answer that it is about
        assert told["role"] == "user"
        assert CHECK in told["content"]
        assert "-1 != 3" in told["content"]


def test_what_still_fails_is_seen_and_not_told_again(tmp_path: Path) -> None:
    project(tmp_path)
    with assembled_terminal(tmp_path, write("sums.py", BAD), DONE, DONE) as made:
        events = say(made)
        finished = end(events)
        assert (finished.why, finished.checks.state) == ("done", "red")
        assert [(one.command, one.state) for one in finished.receipts] == [(CHECK, "red")]
        assert len(made.model.requests) == 3
        checks = [one for one in events if isinstance(one, ToolFinished)][1:]
        assert [one.state for one in checks] == ["failed"]  # nothing changed: it is not run again


def test_what_a_task_did_that_was_cut_short_is_checked_once_it_goes_on(tmp_path: Path) -> None:
    project(tmp_path)
    with assembled_terminal(tmp_path, write("sums.py", BAD), step_limit=1) as made:
        assert end(say(made)).why == "step_limit"
        session = made.terminal.session
    with assembled_terminal(tmp_path, DONE, DONE, DONE) as made:
        made.terminal.resume(session)
        assert end(say(made, "go on")).checks.state == "red"
        assert CHECK in made.model.requests[1][-1]["content"]
        assert end(say(made, "what is left?")).receipts == ()


def test_what_a_kill_left_unchecked_is_checked_once_it_goes_on(tmp_path: Path) -> None:
    project(tmp_path)
    off = replace(assembly.SETTINGS, verify="false")
    with assembled_terminal(tmp_path, write("sums.py", BAD), DONE, app_settings=off) as made:
        say(made)
        made.terminal.record(StateRecord(CHECKING, CHECK))  # as of one that was at work then
        session = made.terminal.session
    with assembled_terminal(tmp_path, DONE, DONE) as made:
        made.terminal.resume(session)
        told = list(replay_events(made.terminal.history.records))
        assert [one.why for one in told if isinstance(one, TurnFinished)] == ["interrupted"]
        assert end(say(made, "go on")).checks.state == "red"


def test_what_a_person_stopped_is_not_checked_at_a_question(tmp_path: Path) -> None:
    project(tmp_path)
    stopped = [lambda stop: stop.set(), *DONE]
    with assembled_terminal(tmp_path, write("sums.py", BAD), stopped, DONE) as made:
        assert end(say(made)).why == "stopped"
        assert end(say(made, "what did you do?")).receipts == ()


def test_a_run_of_the_model_on_the_same_files_counts(tmp_path: Path) -> None:
    project(tmp_path)
    replies = [write("sums.py", GOOD), run(CHECK), text_reply("All tests pass.")]
    with assembled_terminal(tmp_path, *replies) as made:
        events = say(made)
        assert len([one for one in events if isinstance(one, ToolFinished)]) == 2
        finished = end(events)
        assert (finished.checks.state, len(finished.receipts)) == ("green", 1)
        assert [(one.text, one.supported) for one in finished.claims] == [("All tests pass.", True)]


def test_a_run_before_the_last_change_does_not_count(tmp_path: Path) -> None:
    project(tmp_path, sums=GOOD)
    replies = [
        write("notes.md", "a"),
        run(CHECK),
        write("tests/test_b.py", BROKEN, "c2"),
        DONE,
        DONE,
    ]
    with assembled_terminal(tmp_path, *replies) as made:
        finished = end(say(made))
        assert finished.checks.state == "red"
        assert [one.state for one in finished.receipts] == ["grey", "red"]


def test_a_receipt_turns_grey_when_a_file_changes_and_says_which(tmp_path: Path) -> None:
    root = project(tmp_path)
    with assembled_terminal(tmp_path, write("sums.py", GOOD), DONE, DONE) as made:
        say(made)
        session = made.terminal.session
        assert [str(cell) for cell in card(made, "/receipts").rows[0]][2:] == ["0", "passed"]
        (root / "sums.py").write_text(GOOD + "\n")
        state = card(made, "/receipts").rows[0][3]
        assert str(state) == "outdated: sums.py changed"
        news = [str(one.what) for one in say(made, "hello") if isinstance(one, Informed)]
        assert news == [f"Check {CHECK} passed, but sums.py changed since."]
    with assembled_terminal(tmp_path) as made:  # a new start knows the same
        made.terminal.resume(session)
        assert str(card(made, "/receipts").rows[0][3]) == "outdated: sums.py changed"


def test_undo_takes_a_receipt_its_ground(tmp_path: Path) -> None:
    project(tmp_path)
    with assembled_terminal(tmp_path, write("sums.py", GOOD), DONE) as made:
        say(made)
        say(made, "/undo")
        assert str(card(made, "/receipts").rows[0][3]) == "outdated: sums.py changed"


def test_a_check_that_the_task_weakened_is_pointed_out(tmp_path: Path) -> None:
    project(tmp_path)
    replies = [
        write("sums.py", BAD),
        call_reply("read_file", path="tests/test_sums.py", id="c2"),
        write("tests/test_sums.py", TEST.replace("3)", "-1)"), "c3"),
        text_reply("All tests pass."),
    ]
    with assembled_terminal(tmp_path, *replies) as made:
        events = say(made)
    (receipt,) = end(events).receipts
    assert (receipt.state, receipt.changed_checks) == ("green", ("tests/test_sums.py",))
    errors = io.StringIO()
    screen = PlainScreen("text", io.StringIO(), errors, Translator("en", {}), fails_on_red=True)
    for event in events:
        screen.show(event)
    assert screen.finish() == 0
    assert "the task changed the checks themselves: tests/test_sums.py" in errors.getvalue()


def test_tests_that_the_task_wrote_alone_are_pointed_out(tmp_path: Path) -> None:
    own_test = TEST.replace("3)", "-1)")
    replies = [write("sums.py", BAD), write("tests/test_sums.py", own_test, "c2"), DONE]
    with assembled_terminal(tmp_path, *replies) as made:
        (receipt,) = end(say(made)).receipts
        assert (receipt.state, receipt.changed_checks) == ("green", ("tests/test_sums.py",))


def test_a_task_does_not_choose_by_what_it_is_measured(tmp_path: Path) -> None:
    root = project(tmp_path, sums=GOOD)
    with assembled_terminal(tmp_path, write("a.md", "a"), DONE) as made:
        say(made)  # the checks are found and kept
    (root / "sums.py").unlink()
    replies = [write("sums.py", BAD), write("Makefile", "test:\n\ttrue\n", "c2"), DONE, DONE]
    with assembled_terminal(tmp_path, *replies) as made:
        finished = end(say(made))
        assert finished.checks.commands == (CHECK,)
        assert finished.checks.state == "red"
    assert (root / "Makefile").exists()


def test_a_first_task_that_takes_the_tests_away_is_measured_by_them(tmp_path: Path) -> None:
    project(tmp_path, sums=BAD)
    replies = [run("rm -r tests"), text_reply("All tests pass."), text_reply("All tests pass.")]
    with assembled_terminal(tmp_path, *replies) as made:
        finished = end(say(made))
        assert (finished.checks.state, finished.checks.commands) == ("red", (CHECK,))
        assert [one.supported for one in finished.claims] == [False]


def test_broken_syntax_is_found_where_no_check_is_named(tmp_path: Path) -> None:
    replies = [write("a.py", "def f(:\n"), DONE, write("a.py", "x = 1\n", "c2"), DONE]
    with assembled_terminal(tmp_path, *replies) as made:
        finished = end(say(made))
        assert finished.checks.state == "none"
        assert "a.py:1" in made.model.requests[2][-1]["content"]
        assert [one.state for one in finished.receipts] == ["grey"]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", "from sums import substract\n"),
        ("tests/b.py", "from sums import *\nfrom sums import nothing_here\n"),
        ("a.json", '{"a": 1,}'),
        ("a.toml", "a = \n"),
        ("a.js", "let = = 3;\n"),
    ],
)
def test_what_cannot_be_parsed_or_imported_is_red(tmp_path: Path, path: str, content: str) -> None:
    project(tmp_path, sums=GOOD)
    with assembled_terminal(tmp_path, write(path, content), DONE, DONE) as made:
        assert end(say(made)).checks.state == "red"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", "from sums import add\nimport json, nobody_has_this\n"),
        ("a.json", '{"a": 1}'),
        ("tests/fixtures/broken.json", "{"),
        ("tsconfig.json", "{ // a comment\n}"),
        ("a.mjs", "export const a = await fetch('x');\n"),
        ("view.js", "export const View = () => <p>hi</p>;\n"),
        ("a.txt", "def f(:"),
    ],
)
def test_what_is_right_is_not_shown(tmp_path: Path, path: str, content: str) -> None:
    with assembled_terminal(tmp_path, write("sums.py", GOOD), write(path, content), DONE) as made:
        finished = end(say(made))
        assert (finished.checks.state, finished.receipts) == ("none", ())


def test_one_switch_turns_all_of_it_off(tmp_path: Path) -> None:
    project(tmp_path)
    settings = replace(assembly.SETTINGS, verify="false")
    with assembled_terminal(
        tmp_path, write("sums.py", BAD), text_reply("All tests pass."), app_settings=settings
    ) as made:
        finished = end(say(made))
        assert (finished.checks.state, finished.receipts, finished.claims) == ("none", (), ())


def test_nothing_runs_without_the_yes_that_a_run_would_need(tmp_path: Path) -> None:
    project(tmp_path)
    replies = [write("sums.py", BAD), DONE]
    with assembled_terminal(tmp_path, *replies, approval_mode="ask") as made:
        asked: list[str] = []

        def show(event: Event) -> Reply | None:
            if not isinstance(event, ApprovalAsked):
                return None
            asked.append(event.name)
            return Reply(yes=event.name == "create_file")

        drive(made.terminal.run_line("go"), show)
        assert asked == ["create_file", "run_command"]
        checks = [r for _, r in made.terminal.history.records if isinstance(r, ShellResult)]
        assert [one.state for one in checks] == ["refused"]


def test_checks_can_be_said_and_run_by_hand(tmp_path: Path) -> None:
    project(tmp_path, sums=GOOD)
    with assembled_terminal(tmp_path) as made:
        assert card(made, "/check list").rows[0][0] == CHECK
        assert card(made, "/check set sh -c 'exit 3'").rows[0][0] == "sh -c 'exit 3'"
        finished = end(say(made, "/check"))
        assert (finished.checks.state, finished.receipts[0].exit_code) == ("red", 3)
        assert card(made, "/check auto").rows[0][0] == CHECK
        assert end(say(made, "/check")).checks.state == "green"
        assert made.model.requests == []


def test_an_export_tells_of_receipts_and_doubts(tmp_path: Path) -> None:
    root = project(tmp_path)
    replies = [write("sums.py", GOOD), text_reply("I ran `nothing.sh`.")]
    with assembled_terminal(tmp_path, *replies) as made:
        say(made)
        say(made, "/export talk.md")
    exported = (root / "talk.md").read_text()
    assert f"- `{CHECK}`: exit code 0, green\n" in exported
    assert "- Not verified by a run: I ran `nothing.sh`." in exported


def test_a_list_that_nobody_can_read_is_said_and_begun_anew(tmp_path: Path) -> None:
    project(tmp_path, sums=GOOD)
    with assembled_terminal(tmp_path, write("a.md", "a"), DONE) as made:
        made.data.checks.write_text("{")
        for line in ("/check", "/check list"):
            assert "is not a valid list of checks" in str(card(made, line).title)
        news = [str(one.what) for one in say(made) if isinstance(one, Informed)]
        assert any("is not a valid list of checks" in line for line in news)
        assert card(made, "/check auto").rows[0][0] == CHECK


def test_without_checks_that_is_said(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        answer = card(made, "/check")
        assert isinstance(answer, TextCard)
        assert "No checks found" in str(answer.body)
        assert isinstance(card(made, "/check set true"), TableCard)


@pytest.mark.parametrize(("is_strict", "code"), [(False, 0), (True, 5)])
def test_the_exit_code_tells_of_red_checks_where_that_is_asked_for(
    tmp_path: Path, is_strict: bool, code: int
) -> None:
    project(tmp_path)
    replies = [write("sums.py", BAD), text_reply("First."), text_reply("Tests pass.")]
    with assembled_terminal(tmp_path, *replies) as made:
        events = say(made)
    out = io.StringIO()
    screen = PlainScreen("json", out, io.StringIO(), Translator("en", {}), fails_on_red=is_strict)
    for event in events:
        screen.show(event)
    assert screen.finish() == code
    told = json.loads(out.getvalue())
    assert told["status"] == "done"
    assert told["answer"] == "Tests pass."
    assert told["checks"] == {"state": "red", "commands": [CHECK]}
    assert told["receipts"][0]["state"] == "red"
    assert [(one["text"], one["supported"]) for one in told["claims"]] == [("Tests pass.", False)]


def test_checks_that_failed_before_fail_a_task_that_changes_nothing(tmp_path: Path) -> None:
    root = project(tmp_path)
    replies = [write("sums.py", BAD), DONE, DONE]
    with assembled_terminal(tmp_path, *replies) as made:
        say(made)
        session = made.terminal.session

    def go_on(line: str = "go on") -> tuple[int, str]:
        errors = io.StringIO()
        words = Translator("en", {})
        screen = PlainScreen("text", io.StringIO(), errors, words, fails_on_red=True)
        with assembled_terminal(tmp_path, DONE) as made:
            made.terminal.resume(session)
            for event in say(made, line):
                screen.show(event)
            return screen.finish(), errors.getvalue().strip()

    still_red = 5, f"Nothing has changed since these checks failed: {CHECK}"
    assert go_on() == still_red
    assert go_on("and now?") == still_red
    (root / "sums.py").write_text(GOOD)
    assert go_on() == (0, "")  # they failed on other files
    (root / "sums.py").write_text(BAD)
    assert go_on() == still_red
    go_on("/check set true")
    assert go_on() == (0, "")  # those are no checks any more


def test_syntax_that_was_broken_before_fails_a_task_that_changes_nothing(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, write("a.py", "def"), DONE, DONE, DONE) as made:
        assert end(say(made)).checks.state == "red"
        later = end(say(made, "go on"))
        assert (later.checks.state, later.receipts) == ("red", ())


def test_who_asks_for_checks_is_told_that_none_ran(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, write("a.txt", "a"), DONE) as made:
        events = say(made)
    for is_strict in (True, False):
        errors = io.StringIO()
        words = Translator("en", {})
        screen = PlainScreen("text", io.StringIO(), errors, words, fails_on_red=is_strict)
        for event in events:
            screen.show(event)
        assert screen.finish() == 0
        assert ("No checks ran" in errors.getvalue()) is is_strict


def test_who_asks_for_checks_is_told_where_they_say_nothing_of_the_files(tmp_path: Path) -> None:
    settings = replace(assembly.SETTINGS, checks=("true", "echo x >> count.txt"))
    with assembled_terminal(tmp_path, write("a.txt", "a"), DONE, app_settings=settings) as made:
        (made.root / "count.txt").write_text("x\n")
        events = say(made)
    for is_strict in (True, False):
        errors = io.StringIO()
        words = Translator("en", {})
        screen = PlainScreen("text", io.StringIO(), errors, words, fails_on_red=is_strict)
        for event in events:
            screen.show(event)
        assert screen.finish() == 0
        assert "true is outdated: count.txt changed" in errors.getvalue()
        assert ("so they are not verified" in errors.getvalue()) is is_strict


def test_checks_stop_with_the_task(tmp_path: Path) -> None:
    project(tmp_path)
    settings = replace(assembly.SETTINGS, checks=("echo begun; sleep 100",))
    with assembled_terminal(tmp_path, write("a.md", "a"), DONE, app_settings=settings) as made:
        events: list[Event] = []

        def show(event: Event) -> None:
            events.append(event)
            if "begun" in str(event) and type(event).__name__ == "ToolOutput":
                made.terminal.stop.set()

        drive(made.terminal.run_line("go"), show)
        assert end(events).why == "stopped"


def test_time_that_is_up_says_nothing_of_the_project(tmp_path: Path) -> None:
    settings = replace(assembly.SETTINGS, checks=("sleep 100", "false"), checks_seconds=1)
    with assembled_terminal(tmp_path, write("a.md", "a"), DONE, app_settings=settings) as made:
        events = say(made)
        finished = end(events)
        news = [str(one.what) for one in events if isinstance(one, Informed)]
        assert news == ["No time was left to run false (setting checks_seconds)."]
        assert (finished.checks.state, len(made.model.requests)) == ("none", 2)
        assert [one.state for one in finished.receipts] == ["grey"]
