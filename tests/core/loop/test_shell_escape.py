from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cards import RunCard
from core.conversation.transcript import replay_events
from core.events import (
    CommandAnswered,
    Event,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
)
from core.main_terminal import MainTerminal
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events if not isinstance(event, ToolOutput)]


SHOWN = ["TurnStarted", "ToolStarted", "ToolFinished", "TurnFinished"]


def typing(house: AssembledTerminal) -> MainTerminal:
    """Return the terminal of *house* as one at which a person types."""
    house.terminal.runs_shell_escapes = True
    return house.terminal


def test_a_command_of_the_persons_own_runs_outside_at_once_and_the_model_reads_it_next(
    tmp_path: Path,
) -> None:
    with assembled_terminal(tmp_path, text_reply("I see.")) as house:
        events = run_turn(typing(house), f"!echo hi; echo x > {tmp_path}/outside; touch new")
        assert kinds(events) == SHOWN
        assert house.model.requests == []
        assert (tmp_path / "outside").exists()
        assert "".join(e.text for e in events if isinstance(e, ToolOutput)) == "hi\n"
        (finished,) = [event for event in events if isinstance(event, ToolFinished)]
        assert isinstance(finished.card, RunCard)
        assert finished.card.tier == "outside the sandbox"
        run_turn(house.terminal, "and?")
        said = [one for one in house.model.requests[0] if one["role"] == "user"]
        assert [one["content"] for one in said][0].startswith("!echo hi")
        assert "\nhi\nFiles created: new" in said[1]["content"]
        assert said[2]["content"] == "and?"


def test_of_a_private_command_the_model_reads_not_even_that_there_was_one(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, call_reply("read_file", path="@history"), text_reply("ok")
    ) as house:
        events = run_turn(typing(house), "!!echo canary; echo canary > kept")
        assert kinds(events) == SHOWN
        names = [event.name for event in events if isinstance(event, ToolStarted | ToolFinished)]
        assert names == ["!!", "!!"]
        assert (house.root / "kept").exists()
        run_turn(house.terminal, "go")
        assert "canary" not in json.dumps(house.model.requests)
        assert "canary" not in house.terminal.history.messages().__repr__()


def test_a_line_that_nobody_typed_is_never_run(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("a"), text_reply("b")) as house:
        run_turn(house.terminal, "!touch ran")
        run_turn(typing(house), " !touch ran")
        assert not (house.root / "ran").exists()
        assert [r[-1]["content"] for r in house.model.requests] == ["!touch ran", " !touch ran"]


def test_it_is_shown_after_a_new_start_as_it_was(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as house:
        shown = run_turn(typing(house), "!echo hi; exit 3")
        session = house.terminal.session
    with assembled_terminal(tmp_path, text_reply("ok")) as house:
        house.terminal.resume(session)
        again = list(replay_events(house.terminal.history.records))
        assert kinds(again) == SHOWN
        cards = [[e.card for e in some if isinstance(e, ToolFinished)] for some in (shown, again)]
        assert cards[0] == cards[1]
        assert again[:2] == shown[:2]
        assert [e.state for e in again if isinstance(e, ToolFinished)] == ["failed"]
        assert [e.why for e in again if isinstance(e, TurnFinished)] == ["done"]
        run_turn(house.terminal, "what was it?")
        assert [one for one in house.model.requests[0] if "\nhi" in one["content"]]


def test_a_stop_ends_it(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as house:
        turn = typing(house).run_line("!echo begun; sleep 1000")
        events: list[Event] = []
        for event in turn:
            events.append(event)
            if isinstance(event, ToolOutput):
                house.terminal.stop.set()
        assert [e.why for e in events if isinstance(e, TurnFinished)] == ["stopped"]
        assert [e.state for e in events if isinstance(e, ToolFinished)] == ["stopped"]
        again = list(replay_events(house.terminal.history.records))
        assert [e.why for e in again if isinstance(e, TurnFinished)] == ["stopped"]


def test_what_it_changes_is_the_persons_and_no_undo_takes_it_back(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, call_reply("create_file", path="a", content="model\n"), text_reply("made")
    ) as house:
        run_turn(house.terminal, "make a")
        run_turn(typing(house), "!echo mine > b")
        (undone,) = run_turn(house.terminal, "/undo")
        assert isinstance(undone, CommandAnswered)
        assert undone.ok
        assert not (house.root / "a").exists()
        assert (house.root / "b").read_text() == "mine\n"
        (nothing,) = run_turn(house.terminal, "/undo")
        assert isinstance(nothing, CommandAnswered)
        assert not nothing.ok


def test_no_secret_of_the_project_gets_to_the_model_or_the_screen(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".env").write_text("API_TOKEN=canary-4711-secret\n")
    with assembled_terminal(tmp_path, text_reply("ok")) as house:
        events = run_turn(typing(house), "!cat .env")
        run_turn(house.terminal, "go")
        assert "canary-4711" not in repr(events)
        assert "canary-4711" not in json.dumps(house.model.requests)


@pytest.mark.parametrize("line", ["!", "!!", "!  "])
def test_without_a_command_it_says_what_to_say(tmp_path: Path, line: str) -> None:
    with assembled_terminal(tmp_path) as house:
        (answer,) = run_turn(typing(house), line)
        assert isinstance(answer, CommandAnswered)
        assert not answer.ok
        assert house.terminal.session == ""


def test_where_nobody_may_be_asked_about_the_outside_it_is_refused(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as house:
        house.terminal.approval.outside = "refuse"
        (answer,) = run_turn(typing(house), "!touch ran")
        assert isinstance(answer, CommandAnswered)
        assert not answer.ok
        assert not (house.root / "ran").exists()


def test_older_turns_are_summed_up_with_what_the_person_ran(tmp_path: Path) -> None:
    from core.conversation.compaction import render_turn

    with assembled_terminal(tmp_path) as house:
        run_turn(typing(house), "!echo seen")
        run_turn(house.terminal, "!!echo canary")
        told = render_turn(house.terminal.history.records)
        assert "The person ran echo seen:" in told
        assert "canary" not in told
