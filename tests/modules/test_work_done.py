"""What a digest begins with: the work of a session, as it is known without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.events import Reply
from modules.work_done import MAX_RUNS, WorkDone
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.bench.compaction_probes import SESSIONS, Session, answers, held
from tests.scripted_model import call_reply, run_turn, text_reply


def notes_of(one: AssembledTerminal) -> str:
    feature = one.terminal.features.find(WorkDone)
    assert feature
    return feature.compaction_notes()


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
def test_a_digest_that_says_nothing_still_knows_what_was_done(
    tmp_path: Path, session: Session
) -> None:
    text = held(tmp_path, session)
    missed = [one.question for one in session.probes if not answers(one, text)]
    found_out = [one.question for one in session.probes if one.question in NEEDS_A_SUMMARY]
    assert missed == found_out


NEEDS_A_SUMMARY = ("Where did day() split?", "Until when were there dots?", "Why was 8080 tried?")


def test_what_is_known_stands_before_what_the_model_makes_of_it(tmp_path: Path) -> None:
    session = SESSIONS[0]
    text = held(tmp_path, session, session.summary)
    assert all(answers(probe, text) for probe in session.probes)
    parts = ["modified parser.py", "day() split at dashes only", "[turn 1] dates with dots"]
    assert sorted(parts, key=text.index) == parts


def test_what_another_session_did_is_not_told(tmp_path: Path) -> None:
    make = call_reply("create_file", path="first.txt", content="1\n")
    with assembled_terminal(tmp_path, make, text_reply("Made.")) as one:
        run_turn(one.terminal, "make it")
        assert "created first.txt" in notes_of(one)
        one.terminal.new()
        assert notes_of(one) == ""
        one.model.replies = [
            call_reply("create_file", id="c2", path="second.txt", content="2\n"),
            text_reply("Made."),
        ]
        run_turn(one.terminal, "make another")
        assert "created second.txt" in notes_of(one)
        assert "first.txt" not in notes_of(one)


def test_of_many_runs_the_newest_are_told_each_once(tmp_path: Path) -> None:
    runs = [
        call_reply("run_python", id=f"c{n}", code=f"print({n})\nprint('end')")
        for n in range(MAX_RUNS + 2)
    ]
    again = call_reply("run_python", id="again", code="print(5)\nprint('end')")
    with assembled_terminal(tmp_path, *runs, again, text_reply("Ran."), approval_mode="all") as one:
        run_turn(one.terminal, "run them", Reply(yes=True))
        lines = notes_of(one).splitlines()[1:]
    assert len(lines) == MAX_RUNS
    assert lines[-1] == "- [turn 1] print(5) ⏎ print('end'): exit 0 (2 times in all)"
    assert not any("print(1) " in line for line in lines)


def test_what_the_person_ran_is_told_unless_it_is_private(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, runs_shell_escapes=True) as one:
        run_turn(one.terminal, "!exit 4")
        run_turn(one.terminal, "!!exit 5")
        assert notes_of(one).splitlines()[1:] == ["- [turn 1] exit 4 (by the person): exit 4"]
