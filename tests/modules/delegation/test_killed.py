"""Helpers and `kill -9`: each goes on where it stood, each call has its answer, no copy stays."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.conversation.helper_records import helpers_in
from core.conversation.messages import ToolResult
from core.conversation.result_texts import LOST_TEXT
from core.events import ApprovalAsked, Event, Reply, TurnFinished
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from tests.campaign import seeded
from tests.modules.delegation.helper_models import PARENT
from tests.modules.delegation.killed_session import DEATHS
from tests.modules.delegation.test_delegation import (
    Scripts,
    answers,
    at_work,
    shown,
    wrong_at_any_level,
)
from tests.modules.delegation.test_writing import copies_beside
from tests.scripted_model import call_reply, text_reply

ROOT = Path(__file__).parents[3]


def killed(tmp_path: Path, how: str) -> None:
    """Have a session killed as `killed_session` says of *how*."""
    process = subprocess.run(
        [sys.executable, "-m", "tests.modules.delegation.killed_session", str(tmp_path), how],
        cwd=ROOT,
    )
    assert process.returncode == -signal.SIGKILL


def gone_on(terminal: MainTerminal, reply: Reply | None = None) -> list[Event]:
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        return reply if isinstance(event, ApprovalAsked) else None

    drive(terminal.resume_turn(), show)
    return events


@pytest.mark.parametrize("how", ["write", "agent"])
def test_a_kill_in_the_middle_resumes(tmp_path: Path, how: str) -> None:
    killed(tmp_path, how)
    scripts: Scripts = {
        PARENT: [text_reply("All done.")],
        "one": [call_reply("create_file", path="c.txt", content="c\n"), text_reply("one is done.")],
        "two": [text_reply("two is done.")],
    }
    with at_work(tmp_path, scripts) as assembled:
        terminal = assembled.terminal
        terminal.resume()
        assert answers(terminal) == []
        events = gone_on(terminal)

        end = events[-1]
        assert isinstance(end, TurnFinished)
        assert end.why == "done"
        done = sorted(one.text.partition("\n")[0] for one in answers(terminal))
        assert done == ["one is done.", "two is done."][: 1 if how == "agent" else 2]
        helpers = {one.call_id: one.records for one in helpers_in(terminal.history.log)}
        first = helpers["direct-1-agent" if how == "agent" else "d1"]
        calls = [record for _, record in first if isinstance(record, ToolResult)]
        # What was finished ran once; what ran is lost; what came then came in the same history.
        assert [call.call_id for call in calls].count("r1") == 1
        assert [call.text for call in calls].count(LOST_TEXT) == (how != "read-only")
        # A turn that no model began asks none when its call is over.
        assert len(terminal.model.scripts[PARENT]) == (how == "agent")  # type: ignore[attr-defined]
        if how != "read-only":
            assert (assembled.root / "b.txt").read_text() == "b\n"
            assert (assembled.root / "c.txt").read_text() == "c\n"
        assert copies_beside(assembled.root) == []
        assert wrong_at_any_level(terminal) == []


def test_who_says_something_else_leaves_the_helper(tmp_path: Path) -> None:
    killed(tmp_path, "write")
    with at_work(tmp_path, {PARENT: [text_reply("Fine.")]}) as assembled:
        terminal = assembled.terminal
        terminal.resume()
        shown(terminal, "never mind")

        assert [one.text for one in answers(terminal)] == [LOST_TEXT] * 2
        assert not (assembled.root / "b.txt").exists()
        assert wrong_at_any_level(terminal) == []


def test_two_that_ask_at_once_are_both_asked_again_after_any_kill(tmp_path: Path) -> None:
    killed(tmp_path, "asking")
    killed(tmp_path, "one answered")
    scripts: Scripts = {
        PARENT: [text_reply("Done.")],
        "one": [text_reply("one is done.")],
        "two": [text_reply("two is done.")],
    }
    with at_work(tmp_path, scripts) as assembled:
        assembled.terminal.resume()
        asked = [
            one
            for one in gone_on(assembled.terminal, Reply(yes=True, text="red"))
            if isinstance(one, ApprovalAsked)
        ]

        assert len(asked) == 1
        said = {one.text.partition("\n")[0] for one in answers(assembled.terminal)}
        assert said == {"one is done.", "two is done."}
        assert wrong_at_any_level(assembled.terminal) == []


def test_what_a_helper_wrote_is_brought_back_once_whenever_that_is_cut_short(
    tmp_path: Path,
) -> None:
    for death in DEATHS:
        killed(tmp_path, death)
    with at_work(tmp_path, {PARENT: [text_reply("Done.")]}) as assembled:
        root, terminal = assembled.root, assembled.terminal
        terminal.resume()
        gone_on(terminal)

        [answer] = answers(terminal)
        assert answer.text.startswith("Written.\n")
        assert "Its changes are in the folder: modified a.txt, created b.txt." in answer.text
        assert wrong_at_any_level(terminal) == []
        assert copies_beside(root) == []
        states = [("one\ntwo\n", True), ("one\n", True), ("one\n", False), ("hello\n", False)]
        for text, is_there in states:
            assert (root / "a.txt").read_text() == text
            assert (root / "b.txt").exists() == is_there
            shown(terminal, "/undo call")


@seeded(2)
def test_each_call_of_every_level_has_one_answer_after_kills(tmp_path: Path, seed: int) -> None:
    for number in range(4):
        killed(tmp_path, f"wild {seed * 100 + number}")
    with at_work(tmp_path, {PARENT: [text_reply("Enough.")]}) as assembled:
        terminal = assembled.terminal
        terminal.resume()
        shown(terminal, "something else")

        assert terminal.history.reply_count == 1
        assert wrong_at_any_level(terminal) == []
