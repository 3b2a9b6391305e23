"""A deep task stops at the decisions that the model marks, and where its last step failed."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from core.events import ApprovalAsked, Event, Informed, Reply, ToolFinished, TurnFinished
from core.loop.turn import drive
from modules.cli.print_mode import OutputFormat, PlainScreen
from modules.translator import Translator
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import Item, call_reply, run_turn, text_reply

DEEP = "Redesign the authentication system"
DECISION = ["Continue", "Revise", "Roll back"]
FAILURE = ["Retry", "Skip", "Roll back"]


def write(path: str, text: str, call_id: str = "w1") -> list[Item]:
    return call_reply("create_file", id=call_id, path=path, content=text)


def decision(choices: list[str] | None = None) -> list[Item]:
    asked = "Sessions go into the database."
    return call_reply("ask_person", id="q1", question=asked, choices=choices or DECISION)


def failing() -> list[Item]:
    return call_reply("read_file", id="f1", path="missing.txt")


def questions(events: list[Event]) -> list[ApprovalAsked]:
    return [e for e in events if isinstance(e, ApprovalAsked) and e.risk == "question"]


def run(opened: AssembledTerminal, line: str, *answers: Reply | None) -> list[Event]:
    """Run *line* in a turn, giving *answers* to the questions and a yes to all else."""
    events, left = [], list(answers)

    def show(event: Event) -> Reply | None:
        events.append(event)
        if not isinstance(event, ApprovalAsked):
            return None
        return left.pop(0) if event.risk == "question" else Reply(True)

    drive(opened.terminal.run_line(line), show)
    assert not left
    return events


def told(opened: AssembledTerminal) -> str:
    """Return what stands behind the last reply in the last request."""
    return str(opened.model.requests[-1][-1]["content"])


def test_only_a_deep_task_is_told_of_stops(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("So."), text_reply("So.")) as opened:
        run(opened, "fix the failing test")
        assert "Roll back" not in json.dumps(opened.model.requests[0])
        run(opened, DEEP)
        line, note = opened.model.requests[1][-2:]
        assert line["content"] == DEEP
        assert "ask_person" in note["content"]
        assert "Roll back" in note["content"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Continue", "The person answers: Continue"),
        ("Revise", "propose another way"),
        ("With Redis, please", "The person answers: With Redis, please"),
    ],
)
def test_the_task_goes_on_as_the_person_decides(tmp_path: Path, answer: str, expected: str) -> None:
    with assembled_terminal(tmp_path, decision(), text_reply("Done.")) as opened:
        events = run(opened, DEEP, Reply(True, text=answer))
        (asked,) = questions(events)
        assert list(map(str, asked.choices)) == DECISION
        assert expected in told(opened)


def test_only_what_the_person_agreed_to_is_offered_to_be_remembered(tmp_path: Path) -> None:
    replies = [decision(), decision(), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies) as opened:
        events = run(opened, DEEP, Reply(True, text="Revise"), Reply(True, text="Continue"))
        (offer,) = [str(e.what) for e in events if isinstance(e, Informed)]
        assert "Sessions go into the database. → Continue" in offer


def test_how_a_stop_ended_is_not_offered_to_later_sessions(tmp_path: Path) -> None:
    """It is over with its task; in the memory of the task it stands in one short line."""
    replies = [write("new.txt", "new"), decision(), text_reply("Rolled back.")]
    with assembled_terminal(tmp_path, *replies, text_reply("ok")) as opened:
        run(opened, DEEP, Reply(True, text="Roll back"))
        kept = opened.data.task_memory.read_text(encoding="utf-8")
        assert "→ The person rolled back what this task did to the files\n" in kept
        run_turn(opened.terminal, "/new")
        events = run(opened, "fix the failing test")
        assert [str(e.what) for e in events if isinstance(e, Informed)] == []


def test_roll_back_undoes_what_the_task_did_to_files_and_can_be_redone(tmp_path: Path) -> None:
    replies = [write("new.txt", "new"), decision(), text_reply("Rolled back.")]
    with assembled_terminal(tmp_path, text_reply("Noted."), *replies) as opened:
        run(opened, "fix the failing test")
        (opened.root / "mine.txt").write_text("mine")
        events = run(opened, DEEP, Reply(True, text="Roll back"))
        assert not (opened.root / "new.txt").exists()
        assert (opened.root / "mine.txt").read_text() == "mine"
        finished = [e for e in events if isinstance(e, ToolFinished) and e.name == "ask_person"]
        assert [change.path for change in finished[0].changes] == ["new.txt"]
        assert [e for e in events if isinstance(e, Informed) and "/redo" in str(e.what)]
        assert "rolled back" in json.dumps(opened.model.requests[-1])
        kept = opened.data.task_memory.read_text(encoding="utf-8")
        assert "→ The person rolled back what this task did" in kept
        run_turn(opened.terminal, "/redo")
        assert (opened.root / "new.txt").read_text() == "new"


def test_who_rolls_back_is_not_asked_for_what_is_left(tmp_path: Path) -> None:
    todos = call_reply("update_todos", id="t1", todos=[{"title": "move it", "status": "pending"}])
    replies = [todos, text_reply("Shall I?"), write("new.txt", "new"), decision()]
    with assembled_terminal(tmp_path, *replies, text_reply("Rolled back.")) as opened:
        run(opened, "make a plan")
        run(opened, DEEP, Reply(True, text="Roll back"))
        assert len(opened.model.requests) == 5


@pytest.mark.parametrize("choices", [["继续", "修改", "回滚"], ["continue", "revise", "rollback"]])
def test_a_model_that_spells_the_choices_otherwise_stops_as_well(
    tmp_path: Path, choices: list[str]
) -> None:
    with assembled_terminal(tmp_path, decision(choices), text_reply("Done.")) as opened:
        (asked,) = questions(run(opened, DEEP, Reply(True, text="Continue")))
        assert list(map(str, asked.choices)) == DECISION


def test_roll_back_with_nothing_done_says_so(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, decision(), text_reply("Fine.")) as opened:
        run(opened, DEEP, Reply(True, text="Roll back"))
        assert "Nothing was" in told(opened)


def test_roll_back_works_after_a_restart_at_the_question(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, write("new.txt", "new"), decision()) as opened:

        def leave(event: Event) -> Reply | None:
            if isinstance(event, ApprovalAsked) and event.risk == "question":
                raise KeyboardInterrupt
            return Reply(True) if isinstance(event, ApprovalAsked) else None

        with pytest.raises(KeyboardInterrupt):
            drive(opened.terminal.run_line(DEEP), leave)
        session = opened.terminal.session
    with assembled_terminal(tmp_path, text_reply("Rolled back.")) as opened:
        opened.terminal.resume(session)
        assert opened.terminal.has_open_turn
        chosen = Reply(True, text="Roll back")
        drive(
            opened.terminal.resume_turn(),
            lambda event: chosen if isinstance(event, ApprovalAsked) else None,
        )
        assert not (opened.root / "new.txt").exists()


def test_a_task_that_was_cut_short_has_its_stops_once_it_goes_on(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, write("new.txt", "new"), step_limit=1) as opened:
        run(opened, DEEP)
        session = opened.terminal.session
    replies = [write("more.txt", "more"), decision(), text_reply("Rolled back.")]
    with assembled_terminal(tmp_path, *replies) as opened:
        opened.terminal.resume(session)
        (opened.root / "mine.txt").write_text("mine")
        events = run(opened, "go on", Reply(True, text="Roll back"))
        finished = [e for e in events if isinstance(e, ToolFinished) and e.name == "ask_person"]
        assert [one.path for one in finished[0].changes] == ["more.txt", "new.txt"]
        assert [one.name for one in opened.root.iterdir()] == ["mine.txt"]
        for _ in range(2):
            run_turn(opened.terminal, "/redo")
        assert len([*opened.root.iterdir()]) == 3


@pytest.mark.parametrize(("line", "choices"), [("fix it", DECISION), (DEEP, ["A", "Roll back"])])
def test_other_questions_roll_nothing_back(tmp_path: Path, line: str, choices: list[str]) -> None:
    replies = [write("new.txt", "new"), decision(choices), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies) as opened:
        run(opened, line, Reply(True, text="Roll back"))
        assert (opened.root / "new.txt").exists()
        assert told(opened) == "The person answers: Roll back"


@pytest.mark.parametrize(
    ("answer", "expected"), [("Retry", "try the failed step again"), ("Skip", "leave out")]
)
def test_after_a_failed_step_the_task_goes_on_as_decided(
    tmp_path: Path, answer: str, expected: str
) -> None:
    replies = [failing(), text_reply("It failed."), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies) as opened:
        events = run(opened, DEEP, Reply(True, text=answer))
        (asked,) = questions(events)
        assert list(map(str, asked.choices)) == FAILURE
        assert expected in told(opened)
        assert isinstance(events[-1], TurnFinished)


def test_after_a_failed_step_all_can_be_rolled_back(tmp_path: Path) -> None:
    replies = [write("new.txt", "new"), failing(), text_reply("It failed.")]
    with assembled_terminal(tmp_path, *replies) as opened:
        run(opened, DEEP, Reply(True, text="Roll back"))
        assert not (opened.root / "new.txt").exists()
        assert len(opened.model.requests) == 3


def test_who_does_not_answer_ends_the_task_as_it_stands(tmp_path: Path) -> None:
    replies = [write("new.txt", "new"), failing(), text_reply("It failed.")]
    with assembled_terminal(tmp_path, *replies) as opened:
        events = run(opened, DEEP, Reply(False))
        assert (opened.root / "new.txt").exists()
        assert not [e for e in events if isinstance(e, Informed) and e.is_result]


def test_a_stop_at_the_question_ends_the_task(tmp_path: Path) -> None:
    replies = [write("new.txt", "new"), failing(), text_reply("It failed.")]
    with assembled_terminal(tmp_path, *replies) as opened:
        events: list[Event] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            if isinstance(event, ApprovalAsked) and event.risk == "question":
                opened.terminal.stop.set()
            return None

        drive(opened.terminal.run_line(DEEP), show)
        finished = events[-1]
        assert isinstance(finished, TurnFinished)
        assert finished.why == "stopped"
        assert (opened.root / "new.txt").exists()
        assert not [e for e in events if isinstance(e, Informed)]


def test_a_standard_task_ends_on_a_failed_step_without_a_question(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, failing(), text_reply("It failed.")) as opened:
        assert questions(run(opened, "fix the failing test")) == []


@pytest.mark.parametrize("output", ["text", "json"])
def test_where_nobody_is_there_it_goes_on_and_says_where_it_would_have_asked(
    tmp_path: Path, output: OutputFormat
) -> None:
    replies = [decision(), write("new.txt", "new"), failing(), text_reply("Mostly done.")]
    with assembled_terminal(tmp_path, *replies, approval_mode="all") as opened:
        out, err = io.StringIO(), io.StringIO()
        screen = PlainScreen(output, out, err, Translator("en", {}))
        drive(opened.terminal.run_line(DEEP), lambda event: screen.show(event))
        assert screen.finish() == 0
        assert (opened.root / "new.txt").exists()
        assert "go on as seems best" in json.dumps(opened.model.requests[1])
    asked = ["Sessions go into the database.", "The last step failed (read_file)."]
    remarks = [f"Would have asked: {one}" for one in asked]
    if output == "json":
        told_json = json.loads(out.getvalue())
        assert (told_json["answer"], told_json["remarks"]) == ("Mostly done.", remarks)
    else:
        assert out.getvalue() == "Mostly done.\n"
        assert [line for line in err.getvalue().splitlines() if line in remarks] == remarks
