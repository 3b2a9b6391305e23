from __future__ import annotations

from datetime import date
from typing import Any

from core.conversation.context_updates import context_diff
from core.conversation.messages import Context
from core.feature import Feature, Section
from core.hooks import KeepsState
from tests.scripted_model import ScriptedModel, run_turn, terminal, text_reply


def test_news_tells_what_changed_and_what_is_gone() -> None:
    first = context_diff({}, [Section("a", "A1"), Section("b", "B"), Section("c", "")])
    assert first == Context("A1\n\nB", {"a": "A1", "b": "B"})
    changed = Section("a", "A2", describe_change=lambda before: f"{before} became A2")
    assert context_diff({"a": "A1", "b": "B"}, [changed]) == Context(
        "A1 became A2\n\nNo longer valid: b.", {"a": "A2", "b": None}
    )
    assert context_diff({"a": "A2"}, [Section("a", "A2")]) is None


def test_the_day_is_told_once_and_again_when_it_changes() -> None:
    days = [date(2026, 1, 2)]
    main = terminal(text_reply("a"), text_reply("b"), text_reply("c"), today=lambda: days[-1])
    run_turn(main, "one")
    run_turn(main, "two")
    days.append(date(2026, 1, 3))
    run_turn(main, "three")
    assert isinstance(main.model, ScriptedModel)
    told = [m["content"] for m in main.model.requests[-1] if m["role"] == "system"]
    assert [text.count("Today") for text in told] == [0, 1, 1]
    assert "2026-01-03" in told[2]


class Counter(Feature, KeepsState):
    """Has a count as its state, which the session keeps."""

    def __init__(self) -> None:
        self.count = 0

    def state(self) -> dict[str, Any]:
        return {"count": self.count}

    def restore(self, state: dict[str, Any]) -> None:
        self.count = state.get("count", 0)


def test_state_goes_with_the_session() -> None:
    counter = Counter()
    main = terminal(text_reply("a"), text_reply("b"), text_reply("c"), features=[counter])
    run_turn(main, "one")
    counter.count = 3
    run_turn(main, "two")
    first = main.session
    run_turn(main, "/new")
    assert counter.count == 0
    run_turn(main, "three")
    run_turn(main, f"/resume {first}")
    assert (counter.count, main.session, main.history.turn) == (3, first, 2)
