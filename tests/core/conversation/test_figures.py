"""Figures of what was spent: kept with the sessions, summed up by turn, session, day, model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from core.cards import TableCard, TextCard
from core.conversation.figures import By, Spent, figures_by
from core.conversation.helper_records import helper_record
from core.conversation.history import SPENT
from core.conversation.messages import Assistant, StateRecord, User
from core.events import CommandAnswered
from modules.sessions.store import Sessions
from tests.assembly import assembled_terminal
from tests.scripted_model import USED, run_turn, text_reply
from utils.llm.completion import Usage
from utils.llm.served_model import ModelChoice
from utils.text.codec import to_plain

ONE = Usage(100, 60, 40, 10, 0, 1, 0.5)
ONE_AND_A_HALF = ONE + Usage(requests=1, cost_usd=0.25)


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    store = Sessions(tmp_path / "sessions.db")
    yield store
    store.close()


def talk(store: Sessions) -> str:
    """Return a session of two turns, the second with another model."""
    session = store.create(model="usual")
    for turn, record in (
        (1, User("hi")),
        (1, Assistant("one", usage=ONE)),
        (1, StateRecord(SPENT, to_plain(Usage(requests=1, cost_usd=0.25)))),
        (1, Assistant("stopped")),
        (2, StateRecord("model", ModelChoice("other", "http://x").to_state())),
        (2, User("and")),
        (2, Assistant("two", usage=ONE)),
    ):
        store.append(session, turn, record)
    return session


def sums(store: Sessions, by: By, session: str = "") -> dict[str, Usage]:
    return {one.key: one.usage for one in figures_by(by, store.spent(), session)}


def test_what_a_session_has_spent_is_told_by_turn_and_by_model(sessions: Sessions) -> None:
    session = talk(sessions)
    assert sums(sessions, "turn", session) == {"1": ONE_AND_A_HALF, "2": ONE}
    assert sums(sessions, "model") == {"usual": ONE_AND_A_HALF, "other": ONE}
    assert sums(sessions, "session") == {session: ONE_AND_A_HALF + ONE}
    assert sum(sums(sessions, "day").values(), Usage()) == ONE_AND_A_HALF + ONE


def test_what_a_fork_has_copied_counts_once_among_days_and_models(sessions: Sessions) -> None:
    session = talk(sessions)
    fork = sessions.fork(session, 1)
    sessions.append(fork, 2, Assistant("three", usage=ONE))
    assert sums(sessions, "session")[fork] == ONE_AND_A_HALF + ONE
    assert sums(sessions, "turn", fork) == {"1": ONE_AND_A_HALF, "2": ONE}
    assert sums(sessions, "model") == {"usual": ONE_AND_A_HALF + ONE, "other": ONE}


def test_an_older_session_kept_the_name_of_its_model_alone(sessions: Sessions) -> None:
    session = sessions.create(model="usual")
    sessions.append(session, 1, StateRecord("model", "older"))
    sessions.append(session, 1, Assistant("one", usage=ONE))
    sessions.append(session, 2, StateRecord("model", None))
    sessions.append(session, 2, Assistant("two", usage=ONE))
    assert sums(sessions, "model") == {"older": ONE, "usual": ONE}


def test_what_helpers_have_spent_counts_in_the_turn_and_with_their_own_model(
    sessions: Sessions,
) -> None:
    session = talk(sessions)
    for record in (
        StateRecord("model", ModelChoice("small").to_state()),
        User("Task: look"),
        Assistant("three", usage=ONE),
        StateRecord(SPENT, to_plain(Usage(requests=1, cost_usd=0.25))),
    ):
        sessions.append(session, 2, helper_record("c1", record))
    sessions.append(session, 2, helper_record("c2", Assistant("four", usage=ONE)))
    sessions.append(session, 2, Assistant("five", usage=ONE))
    assert sums(sessions, "turn", session)["2"] == ONE + ONE_AND_A_HALF + ONE + ONE
    assert sums(sessions, "model") == {
        "usual": ONE_AND_A_HALF,
        "other": ONE + ONE + ONE,
        "small": ONE_AND_A_HALF,
    }


def test_days_are_those_of_the_persons_zone() -> None:
    late = datetime(2026, 3, 1, 23, 59).timestamp()
    spent = [Spent("a", 1, when, "m", ONE) for when in (late + 120, late)]
    assert [one.key for one in figures_by("day", spent)] == ["2026-03-01", "2026-03-02"]


def test_the_command_tells_the_same_numbers(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one"), text_reply("two")) as built:
        cards = {}
        for line in ("/cost day", "hi", "and", "/cost turn", "/cost model", "/cost week"):
            events = run_turn(built.terminal, line)
            cards[line] = events[-1].card if isinstance(events[-1], CommandAnswered) else None
        turns, models = cards["/cost turn"], cards["/cost model"]
        assert isinstance(cards["/cost day"], TextCard)
        assert isinstance(turns, TableCard)
        assert isinstance(models, TableCard)
        assert [row[:5] for row in turns.rows[:2]] == [
            ("1", "1", f"{USED.prompt_tokens}", "60 %", "10"),
            ("2", "1", f"{USED.prompt_tokens}", "60 %", "10"),
        ]
        assert turns.rows[2][1:] == models.rows[0][1:]
        assert isinstance(cards["/cost week"], TextCard)
        assert "/cost day" in str(cards["/cost week"].title)
