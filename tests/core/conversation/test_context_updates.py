from __future__ import annotations

from datetime import date
from typing import Any

from core.conversation.context_updates import news
from core.conversation.messages import Context
from core.feature import Feature, Section
from core.hooks import KeepsState
from tests.scripted import ScriptedModel, run, say, terminal


def test_news_tells_what_changed_and_what_is_gone() -> None:
    first = news({}, [Section("a", "A1"), Section("b", "B"), Section("c", "")])
    assert first == Context("A1\n\nB", {"a": "A1", "b": "B"})
    changed = Section("a", "A2", changed=lambda before: f"{before} became A2")
    assert news({"a": "A1", "b": "B"}, [changed]) == Context(
        "A1 became A2\n\nNo longer valid: b.", {"a": "A2", "b": None}
    )
    assert news({"a": "A2"}, [Section("a", "A2")]) is None


def test_the_day_is_told_once_and_again_when_it_changes() -> None:
    days = [date(2026, 1, 2)]
    main = terminal(say("a"), say("b"), say("c"), today=lambda: days[-1])
    run(main, "one")
    run(main, "two")
    days.append(date(2026, 1, 3))
    run(main, "three")
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
    main = terminal(say("a"), say("b"), say("c"), families=[counter])
    run(main, "one")
    counter.count = 3
    run(main, "two")
    first = main.session
    run(main, "/new")
    assert counter.count == 0
    run(main, "three")
    run(main, f"/resume {first}")
    assert (counter.count, main.session, main.history.turn) == (3, first, 2)
