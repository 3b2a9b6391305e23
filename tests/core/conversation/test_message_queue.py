"""The queue of a session, as each screen finds it that the session is opened on."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.conversation.message_queue import MessageQueue, QueuedMessage
from core.conversation.messages import Record, StateRecord
from modules.cli.input.pending_lines import PendingLines
from tests.assembly import assembled_terminal
from tests.scripted_model import run_turn, text_reply
from utils.i18n import UserError, phrase


def ids(queue: MessageQueue) -> list[str]:
    return [item.id for item in queue.items]


def test_a_browser_finds_what_waits_in_a_terminal_and_the_other_way_round(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as here:
        run_turn(here.terminal, "first")
        PendingLines(here.terminal).add("typed")
    with assembled_terminal(tmp_path) as here:
        here.terminal.resume()
        queue = MessageQueue(here.terminal)
        assert [item.text for item in queue.items] == ["typed"]
        queue.add(QueuedMessage("m1", "sent"), is_next=True)
    with assembled_terminal(tmp_path) as here:
        here.terminal.resume()
        assert PendingLines(here.terminal).texts == ["sent", "typed"]


@pytest.mark.parametrize("screen", ["terminal", "browser"])
def test_a_fork_does_not_own_what_waits_where_it_comes_from(tmp_path: Path, screen: str) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as here:
        run_turn(here.terminal, "first")
        if screen == "terminal":
            PendingLines(here.terminal).add("second")
        else:
            MessageQueue(here.terminal).add(QueuedMessage("m1", "second"))
        here.terminal.resume(here.terminal.fork(1))
        assert MessageQueue(here.terminal).items == []
        assert PendingLines(here.terminal).texts == []


def test_it_goes_with_the_conversation_into_another_session(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one"), text_reply("two")) as here:
        run_turn(here.terminal, "first")
        queue = MessageQueue(here.terminal)
        queue.add(QueuedMessage("m1", "second"))
        before = here.terminal.session
        here.terminal.new()
        assert queue.items == []
        run_turn(here.terminal, "elsewhere")
        queue.add(QueuedMessage("m2", "third"))
        here.terminal.resume(before)
        assert ids(queue) == ["m1"]


def test_what_was_taken_waits_again_after_a_crash_unless_it_has_begun(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as here:
        run_turn(here.terminal, "first")
        queue = MessageQueue(here.terminal)
        queue.add(QueuedMessage("m1", "second"))
        queue.add(QueuedMessage("m2", "third"))
        queue.take()
        assert ids(queue) == ["m2"]
        assert ids(MessageQueue(here.terminal)) == ["m1", "m2"]
        queue.begun()
        assert ids(MessageQueue(here.terminal)) == ["m2"]


def test_what_cannot_be_kept_does_not_wait_and_takes_nobodys_place(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as here:
        run_turn(here.terminal, "first")
        queue = MessageQueue(here.terminal)
        queue.add(QueuedMessage("m1", "second"))

        def refuse(record: Record) -> None:
            raise UserError(phrase("The disk is full."))

        here.terminal.record = refuse  # type: ignore[method-assign]
        with pytest.raises(UserError):
            queue.add(QueuedMessage("m2", "third"), instead=["m1"])
        assert ids(queue) == ["m1"]
        PendingLines(here.terminal).add("typed")  # the turn tells of the disk


def test_a_repeated_message_is_known_by_its_id_whatever_became_of_it(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as here:
        run_turn(here.terminal, "first")
        queue = MessageQueue(here.terminal)
        for number in range(9):
            queue.add(QueuedMessage(f"m{number}", "/status"))
            queue.take()
            queue.begun()
        assert queue.enter() == [f"m{number}" for number in range(1, 9)]


def test_lines_of_an_older_version_that_name_no_session_wait(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as here:
        run_turn(here.terminal, "first")
        here.terminal.record(StateRecord("queue", [{"id": "m1", "text": "second"}]))
        queue = MessageQueue(here.terminal)
        assert ids(queue) == ["m1"]
        queue.drop_all(["m1"])
        assert here.terminal.history.state["queue"] == []
