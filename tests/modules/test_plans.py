"""Plan mode: nothing is changed or run, the plan is a file, and one answer does it."""

from __future__ import annotations

import io
import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from core.conversation.messages import StateRecord
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Informed,
    Reply,
    ToolFinished,
    TurnFinished,
)
from core.loop.approval import MODES, Approval, ApprovalMode
from core.loop.turn import drive
from modules.cli.print_mode import PlainScreen
from modules.translator import Translator
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import Item, call_reply, calls_reply, text_reply

PLAN = "# Plan\n\n1. Write a.txt\n2. Read it"
WRITE = call_reply("create_file", id="w1", path="a.txt", content="new")
DONE = text_reply("It is done.")


def say(opened: AssembledTerminal, line: str, *answers: Reply | None) -> list[Event]:
    """Say *line*, with *answers* to the questions about a plan, and a yes to any other."""
    events, left = [], list(answers)

    def show(event: Event) -> Reply | None:
        events.append(event)
        if not isinstance(event, ApprovalAsked):
            return None
        return left.pop(0) if event.risk == "question" else Reply(True)

    drive(opened.terminal.run_line(line), show)
    assert not left
    return events


def planning(
    tmp_path: Path, *replies: list[Item], **settings: Any
) -> AbstractContextManager[AssembledTerminal]:
    return assembled_terminal(tmp_path, *replies, approval_mode="plan", **settings)


def plan_file(opened: AssembledTerminal) -> Path:
    return opened.data.plans / f"{opened.terminal.session}.md"


def states(events: list[Event]) -> dict[str, str]:
    return {one.name: one.state for one in events if isinstance(one, ToolFinished)}


def test_in_plan_mode_nothing_is_changed_or_run_whoever_would_say_yes(tmp_path: Path) -> None:
    calls = calls_reply(
        ("c1", "create_file", '{"path": "b.txt", "content": "x"}'),
        ("c2", "run_command", '{"command": "touch c.txt"}'),
        ("c3", "run_command", '{"command": "touch d.txt", "where": "outside"}'),
        ("c4", "run_python", "{\"code\": \"open('e.txt', 'w')\"}"),
        ("c5", "annotate_file", '{"path": "a.txt", "note": "mine"}'),
        ("c6", "delete_file", '{"path": "a.txt"}'),
        ("c7", "git_commit", '{"message": "all"}'),
        ("c8", "read_file", '{"path": "a.txt"}'),
    )
    with planning(tmp_path, calls, text_reply("So it is.")) as opened:
        (opened.root / "a.txt").write_text("kept")
        events = say(opened, "Look around")
        assert not [one for one in events if isinstance(one, ApprovalAsked)]
        changing = ("create_file", "run_command", "run_python", "annotate_file", "delete_file")
        assert states(events) == {
            **dict.fromkeys((*changing, "git_commit"), "refused"),
            "read_file": "done",
        }
        assert [path.name for path in opened.root.iterdir()] == ["a.txt"]
        assert not opened.data.plans.exists()


def test_a_yes_leaves_plan_mode_and_does_the_plan_in_the_same_conversation(tmp_path: Path) -> None:
    replies = (call_reply("list_files"), text_reply(f"So:\n\n{PLAN}"), WRITE, DONE)
    with planning(tmp_path, *replies) as opened:
        events = say(opened, "Plan it", Reply(True, text="Do it"))
        assert plan_file(opened).read_text() == f"{PLAN}\n"
        assert plan_file(opened).stat().st_mode & 0o777 == 0o600
        told = [one.what.values for one in events if isinstance(one, Informed)]
        assert {"path": str(plan_file(opened))} in told
        assert (opened.root / "a.txt").read_text() == "new"
        assert opened.terminal.approval.mode == "guarded"
        sent = opened.model.requests
        assert all(late[: len(early)] == early for early, late in zip(sent, sent[1:], strict=False))
        assert opened.model.tool_lists[0] == opened.model.tool_lists[-1]
        assert "says yes to your plan" in json.dumps(sent[2][len(sent[1]) :])


def test_the_beginning_of_a_request_stays_when_the_mode_changes(tmp_path: Path) -> None:
    replies = [text_reply("So.") for _ in MODES]
    with assembled_terminal(tmp_path, *replies) as opened:
        for _ in MODES:
            say(opened, "Look")
            opened.terminal.approval.go_round()
        sent = opened.model.requests
        assert all(late[: len(early)] == early for early, late in zip(sent, sent[1:], strict=False))
        assert all(tools == opened.model.tool_lists[0] for tools in opened.model.tool_lists)
        assert "Plan mode" not in json.dumps(sent[0])
        assert "Plan mode" in json.dumps(sent[1])


def test_what_the_person_says_of_a_plan_leads_to_another_one(tmp_path: Path) -> None:
    replies = (text_reply(PLAN), WRITE, text_reply(f"{PLAN}\n3. Test it"))
    with planning(tmp_path, *replies) as opened:
        answers = Reply(True, text="and a test?"), Reply(True, text="Not yet")
        events = say(opened, "Plan it", *answers)
        assert states(events)["create_file"] == "refused"
        assert "and a test?" in opened.model.requests[1][-1]["content"]
        assert plan_file(opened).read_text() == f"{PLAN}\n3. Test it\n"
        assert opened.terminal.approval.mode == "plan"
        assert not (opened.root / "a.txt").exists()


def test_the_plan_is_done_as_the_person_has_changed_its_file(tmp_path: Path) -> None:
    with planning(tmp_path, text_reply(PLAN), WRITE, DONE) as opened:

        def show(event: Event) -> Reply | None:
            if not isinstance(event, ApprovalAsked):
                return None
            plan_file(opened).write_text("# Plan\n\n1. Write a.txt only")
            return Reply(True, text="Do it")

        drive(opened.terminal.run_line("Plan it"), show)
        told = json.dumps(opened.model.requests[1])
        assert "which they changed" in told
        assert "1. Write a.txt only" in told


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        (["Which?\n\n1. this one\n2. that one\n\nWhich is it?"], ""),
        (["The file is short."], ""),
        (["1. Write a.txt\n2. Test it"], "1. Write a.txt\n2. Test it\n"),
        ([PLAN, "Because:\n\n1. it is short\n2. it is new"], f"{PLAN}\n"),
        (["## 实施计划\n\n- 写 a.txt"], "## 实施计划\n\n- 写 a.txt\n"),
    ],
)
def test_only_an_answer_that_is_a_plan_is_kept_as_one(
    tmp_path: Path, answers: list[str], kept: str
) -> None:
    with planning(tmp_path, *map(text_reply, answers)) as opened:
        for answer in answers:
            say(opened, "Go", *[Reply(False)] * (answer in kept))
        found = plan_file(opened)
        assert (found.read_text() if found.exists() else "") == kept


def test_a_plan_can_be_shown_and_done_later_and_after_a_new_start(tmp_path: Path) -> None:
    with planning(tmp_path, text_reply(PLAN)) as opened:
        [answered] = say(opened, "/plan")
        assert isinstance(answered, CommandAnswered)
        assert not answered.ok
        say(opened, "Plan it", Reply(False))
        session = opened.terminal.session
    with assembled_terminal(tmp_path, WRITE, DONE) as opened:
        opened.terminal.resume(session)
        [answered, status] = [*say(opened, "/plan"), *say(opened, "/approve")]
        assert isinstance(answered, CommandAnswered)
        assert "plan" in repr(status)
        assert answered.card.body == f"{PLAN}\n"  # type: ignore[union-attr]
        say(opened, "/do-plan")
        assert json.dumps(PLAN)[1:-1] in json.dumps(opened.model.requests[0][-2])
        assert opened.terminal.approval.mode == "guarded"
        assert (opened.root / "a.txt").exists()


def test_to_do_a_plan_that_is_not_there_fails(tmp_path: Path) -> None:
    with planning(tmp_path) as opened:
        end = say(opened, "/do-plan")[-1]
        assert isinstance(end, TurnFinished)
        assert (end.why, "has no plan yet" in str(end.detail)) == ("error", True)


def test_a_fork_has_the_plan_as_well(tmp_path: Path) -> None:
    with planning(tmp_path, text_reply(PLAN)) as opened:
        say(opened, "Plan it", Reply(False))
        fork = opened.terminal.fork(1)
        assert (opened.data.plans / f"{fork}.md").read_text() == f"{PLAN}\n"


def test_a_plan_is_done_in_the_mode_before_it_also_in_a_session_that_goes_on(
    tmp_path: Path,
) -> None:
    with assembled_terminal(tmp_path, text_reply("So.")) as opened:
        for line in ("/approve ask", "/approve plan", "Look"):
            say(opened, line)
        session = opened.terminal.session
    with assembled_terminal(tmp_path) as opened:
        opened.terminal.resume(session)
        opened.terminal.leave_plan_mode()
        assert opened.terminal.approval.mode == "ask"
        kept = [one for _, one in opened.terminal.history.log]
        assert StateRecord("approval", "ask") in kept


@pytest.mark.parametrize(
    ("before", "after"),
    [("guarded", "guarded"), ("ask", "ask"), ("read-only", "ask"), ("all", "all")],
)
def test_modes_that_are_passed_on_the_way_to_plan_mode_count_for_nothing(
    before: ApprovalMode, after: ApprovalMode
) -> None:
    approval = Approval(before, lambda *_: None)
    while approval.mode != "plan":
        approval.go_round()
    assert approval.after_plan == after
    for _ in MODES:
        approval.go_round()
    assert (approval.mode, approval.after_plan) == ("plan", after)


def test_a_task_that_nobody_watches_ends_with_the_plan(tmp_path: Path) -> None:
    out, errors = io.StringIO(), io.StringIO()
    with planning(tmp_path, text_reply(PLAN)) as opened:
        screen = PlainScreen("text", out, errors, Translator("en", {}))
        drive(opened.terminal.run_line("Plan it"), lambda event: screen.show(event))
        assert screen.finish() == 0
        assert out.getvalue() == f"{PLAN}\n"
        assert str(plan_file(opened)) in errors.getvalue()
        assert opened.terminal.approval.mode == "plan"
