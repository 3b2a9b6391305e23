"""Think-once, done knowingly: what a switch costs, and the way to think that costs less."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.conversation.messages import Assistant, Context, Effort
from core.events import CommandAnswered, Event, Informed, ThoughtKept
from core.loop.thinking import Way
from modules.spending.past_tasks import PastTask, PastTasks
from modules.spending.think_once import ThinkOnce
from modules.spending.ways import cheaper, weigh
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import Item, call_reply, run_turn, text_reply
from utils.llm.completion import Completion, Usage
from utils.llm.prices import Price, PriceList

FLASH = PriceList().tariff("deepseek-flash")
CHEAP = 1_795_410_000.0
"""A Monday at 05:00 UTC, which is off-peak."""


def used(reply: list[Item], prompt: int, hit: int = 0, thought: int = 0) -> list[Item]:
    """Return *reply* as one to so many tokens, of 100 tokens and a *thought*, at its price."""
    *deltas, last = reply
    assert isinstance(last, Completion)
    out = 100 + thought
    dollars = (hit * 0.003 + (prompt - hit) * 0.15 + out * 0.60) / 1_000_000
    return [
        *deltas,
        replace(last, usage=Usage(prompt, hit, prompt - hit, out, thought, 1, dollars)),
    ]


def step(number: int, prompt: int, hit: int = 0, thought: int = 0) -> list[Item]:
    todos = [{"title": f"part {number}", "status": "done"}]
    thinking = "I think." if thought else ""
    reply = call_reply("update_todos", id=f"c{number}", thinking=thinking, todos=todos)
    return used(reply, prompt, hit, thought)


@contextmanager
def session(base: Path, *replies: list[Item], tariff: Any = FLASH) -> Iterator[AssembledTerminal]:
    base.mkdir(exist_ok=True)
    with assembled_terminal(base, *replies) as one:
        feature = one.terminal.features.find(ThinkOnce)
        assert feature
        feature.clock = lambda: CHEAP
        one.model.tariff = tariff
        yield one


def notices(events: list[Event]) -> str:
    return "\n".join(str(event.what) for event in events if isinstance(event, Informed))


def card_of(one: AssembledTerminal, line: str) -> Any:
    (answer,) = run_turn(one.terminal, line)
    assert isinstance(answer, CommandAnswered)
    return answer.card


def body_of(one: AssembledTerminal, line: str) -> str:
    card = card_of(one, line)
    assert isinstance(card, TextCard)
    return str(card.body)


def rows_of(one: AssembledTerminal) -> dict[str, str]:
    card = card_of(one, "/cost")
    assert isinstance(card, TableCard)
    return {str(name): str(value) for name, value, *_ in card.rows}


def keep(one: AssembledTerminal, way: Way, dollars: float, thought: int = 0) -> None:
    """Keep three past tasks of two steps that went *way*, in a conversation of 1,000 tokens."""
    for _ in range(3):
        PastTasks(one.data.past_tasks).add(
            PastTask("scripted", dollars, 2, 1_000, way, thought, 1_000)
        )


def test_a_switch_says_what_it_costs_before_it_is_made(tmp_path: Path) -> None:
    with session(tmp_path, used(text_reply("a"), 10_000)) as one:
        assert "read again" not in body_of(one, "/think")
        assert "read again" not in body_of(one, "/fast")
        run_turn(one.terminal, "read it")
        told = body_of(one, "/think")
        # 10,100 tokens at 0.147 dollars and 0.98 yuan for a million more than from the cache
        assert told.startswith("10,100 tokens of this conversation are read again, uncached: ")
        assert "$0.001485 (¥0.009898) more." in told
        assert "Thinking first, then fast: about $" in told
        assert "estimated; measured after" in told
        assert "read again" not in body_of(one, "/fast")
        assert len(one.model.requests) == 1


def test_what_was_read_in_a_mode_is_not_lost_to_it(tmp_path: Path) -> None:
    replies = [
        used(text_reply("a"), 10_000),
        used(text_reply("b"), 10_200, thought=50),
        used(text_reply("c"), 10_500),
    ]
    with session(tmp_path, *replies) as one:
        run_turn(one.terminal, "read it")
        assert "10,100 tokens of this conversation" in body_of(one, "/think")
        assert notices(run_turn(one.terminal, "then")) == ""  # that was told
        # of 10,350 tokens the fast cache has 10,100: a block more or less
        assert body_of(one, "/fast") == ""
        run_turn(one.terminal, "and now?")
        assert one.model.efforts == ["", "usual", ""]
        rows = rows_of(one)
        assert rows["Requests, fast"].startswith("2: input 20,500 (0 cached); $")
        assert rows["Requests, thinking"].startswith("1: input 10,200 ")


def test_what_was_read_is_known_when_the_session_goes_on_elsewhere(tmp_path: Path) -> None:
    with session(tmp_path, used(text_reply("a"), 10_000)) as one:
        run_turn(one.terminal, "read it")
    with session(tmp_path, used(text_reply("b"), 10_200)) as again:
        again.terminal.resume()
        again.terminal.mode = "think"
        assert "10,100 tokens of this conversation" in notices(run_turn(again.terminal, "go on"))


def test_the_first_task_goes_once_by_what_is_assumed_and_that_is_said(tmp_path: Path) -> None:
    replies = [step(1, 3_000, thought=200), used(text_reply("Done."), 3_400)]
    with session(tmp_path, *replies) as one:
        one.terminal.mode = "think"
        events = run_turn(one.terminal, "find the bug in the parser and mend it")
        assert one.model.efforts == ["usual", ""]
        assert "estimated; measured after" in notices(events)
        assert ThoughtKept("I think.") in events


def test_the_way_that_was_measured_to_be_cheaper_is_taken(tmp_path: Path) -> None:
    replies = [step(n, 3_000 + 300 * n, thought=20) for n in range(3)]
    with session(tmp_path, *replies, used(text_reply("Done."), 4_000, thought=9)) as one:
        keep(one, "once", 0.004, thought=2_000)
        keep(one, "low", 0.002, thought=300)
        one.terminal.mode = "think"
        events = run_turn(one.terminal, "find the bug in the parser and mend it")
        assert one.model.efforts == ["low"] * 4
        assert "Low-effort thinking throughout is cheaper" in notices(events)
        assert "last 3 tasks" in notices(events)
        assert not any(isinstance(event, ThoughtKept) for event in events)
        history = one.terminal.history
        assert [r.effort for _, r in history.records if isinstance(r, Assistant)] == ["low"] * 4
        assert not [r for _, r in history.records if isinstance(r, Context) and "concl" in r.text]
        for before, after in zip(one.model.requests, one.model.requests[1:], strict=False):
            assert after[: len(before)] == before
            assert all(m["reasoning_content"] for m in after if m["role"] == "assistant")
        assert "cheaper" not in notices(run_turn(one.terminal, "/cost"))


def test_a_conversation_that_is_long_already_can_make_the_other_way_cheaper(tmp_path: Path) -> None:
    """Low effort costs less for itself, but would have all of the conversation read again."""
    replies = [
        *(step(1, 60_000, thought=500), used(text_reply("a"), 60_700)),
        *(step(2, 61_000, thought=500), used(text_reply("b"), 61_700)),
    ]
    with session(tmp_path, *replies) as one:
        one.terminal.mode = "think"
        keep(one, "once", 0.0025, thought=2_000)
        keep(one, "low", 0.0150, thought=9_000)
        run_turn(one.terminal, "find the bug in the parser and mend it")
        keep(one, "low", 0.0020, thought=300)
        keep(one, "low", 0.0020, thought=300)
        keep(one, "low", 0.0020, thought=300)
        run_turn(one.terminal, "and mend the other bug in the parser as well")
        assert one.model.efforts == ["usual", "", "usual", ""]


def test_what_a_task_cost_its_way_is_kept(tmp_path: Path) -> None:
    replies = [
        used(text_reply("a"), 10_000),
        step(1, 10_300, thought=400),
        used(text_reply("b"), 10_900, hit=10_000),
    ]
    with session(tmp_path, *replies) as one:
        run_turn(one.terminal, "read it")
        one.terminal.mode = "think"
        run_turn(one.terminal, "find the bug in the parser and mend it")
        first, second = PastTasks(one.data.past_tasks).of_model("scripted")
        assert (first.way, first.thought, first.read_again) == ("", 0, 10_000)
        assert (second.way, second.thought, second.steps) == ("once", 400, 2)
        # the first call missed what the fast one had read, the second a part of the call before
        assert second.read_again == 10_100 + 300
        rows = rows_of(one)
        assert "estimated; measured after" in rows["Low effort throughout"]


@pytest.mark.parametrize("change", [{"thinks_by": "adaptive"}, {"reasoning_effort": False}])
def test_without_a_choice_or_a_price_it_thinks_at_the_first_call(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    replies = [step(1, 3_000, thought=20), used(text_reply("Done."), 3_400)]
    with session(tmp_path / "a", *replies) as one:
        one.model.profile = replace(one.model.profile, **change)
        keep(one, "once", 0.004)
        keep(one, "low", 0.002)
        one.terminal.mode = "think"
        assert notices(run_turn(one.terminal, "find the bug and mend it")) == ""
        assert one.model.efforts == ["usual", ""]
        assert "Low effort throughout" not in rows_of(one)
    with session(tmp_path / "b", *replies, tariff=None) as one:
        one.terminal.mode = "think"
        assert notices(run_turn(one.terminal, "find the bug and mend it")) == ""
        assert one.model.efforts == ["usual", ""]
        assert body_of(one, "/fast") == ""


def test_a_switch_costs_nothing_where_the_requests_are_alike(tmp_path: Path) -> None:
    with session(tmp_path, used(text_reply("a"), 10_000)) as one:
        one.model.profile = replace(one.model.profile, thinking=False)
        run_turn(one.terminal, "read it")
        assert body_of(one, "/think") == ""


def test_a_task_that_is_left_at_a_question_goes_on_its_way(tmp_path: Path) -> None:
    asked = call_reply("delete_file", thinking="Hm.", path="a.txt")
    replies = [used(asked, 3_000, thought=20), used(text_reply("Done."), 3_400, thought=20)]
    with session(tmp_path, *replies) as one:
        (one.root / "a.txt").write_text("a")
        keep(one, "once", 0.004)
        keep(one, "low", 0.002)
        one.terminal.mode, one.terminal.approval.mode = "think", "ask"
        turn = one.terminal.run_line("delete the file a.txt, and then look whether it is gone")
        while not one.terminal.history.unanswered_calls:
            next(turn)
        turn.close()
        one.terminal.mode = "fast"
        events = list(one.terminal.resume_turn())
        assert one.model.efforts == ["low", "low"]
        assert not any(isinstance(event, ThoughtKept) for event in events)


def test_the_cheaper_way_is_that_which_the_prices_make_cheaper() -> None:
    """A first thought against many: the longer the conversation, the more each lineage costs."""
    price = Price(hit=0.003, miss=0.15, output=0.60)
    ways = {
        tokens: cheaper(weigh([], price, tokens=tokens, read={})) for tokens in (3_000, 200_000)
    }
    assert ways == {3_000: "once", 200_000: "low"}
    read: dict[Effort, int] = {"usual": 200_000, "": 200_000}
    assert cheaper(weigh([], price, tokens=200_000, read=read)) == "once"
