"""Costs of tasks: told before, capped between two steps, waited with; on the real assembly."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard
from core.conversation.messages import Assistant, ToolResult
from core.events import CommandAnswered, Event, Informed, TurnFinished, Waiting, Warned
from modules.spending.feature import Spending
from modules.spending.ledger import KEPT_DAYS, Ledger
from tests.assembly import SETTINGS, AssembledTerminal, assembled_terminal
from tests.scripted_model import Item, call_reply, run_turn, text_reply
from utils.llm.completion import Completion, Usage
from utils.llm.prices import PriceList

FLASH = PriceList().tariff("deepseek-flash")
ROOT = Path(__file__).parents[3]


def at(day: int, hour: int, minute: int = 0) -> float:
    """Return a time of November 2026; the 23rd is a Monday."""
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC).timestamp()


CHEAP, DEAR = at(23, 5), at(23, 6, 30)


@dataclass
class Clock:
    """A clock that goes on by *tick* seconds each time somebody looks."""

    now: float
    tick: float = 0.0

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def costing(reply: list[Item], dollars: float, prompt: int = 1_000) -> list[Item]:
    """Return *reply* with the cost *dollars*."""
    *deltas, last = reply
    assert isinstance(last, Completion)
    usage = Usage(prompt, 0, prompt, 10, 0, 1, dollars)
    return [*deltas, replace(last, usage=usage)]


def plan(dollars: float, number: int) -> list[Item]:
    todos = [{"title": "one", "status": "pending"}]
    return costing(call_reply("update_todos", id=f"c{number}", todos=todos), dollars)


@contextmanager
def spending(
    base: Path, *replies: list[Item], clock: Clock | None = None, tariff: Any = FLASH, **caps: Any
) -> Iterator[AssembledTerminal]:
    base.mkdir(exist_ok=True)
    settings = replace(SETTINGS, **caps)
    with assembled_terminal(base, *replies, app_settings=settings) as one:
        feature = one.terminal.features.find(Spending)
        assert feature
        feature.clock = clock or Clock(CHEAP)
        one.model.tariff = tariff
        yield one


def end_of(events: list[Event]) -> TurnFinished:
    assert isinstance(events[-1], TurnFinished)
    return events[-1]


def notices(events: list[Event]) -> list[str]:
    return [str(event.what) for event in events if isinstance(event, Informed)]


def warnings(events: list[Event]) -> list[str]:
    return [str(event.what) for event in events if isinstance(event, Warned)]


def rows_of(events: list[Event]) -> dict[str, str]:
    (answer,) = events
    assert isinstance(answer, CommandAnswered)
    assert isinstance(answer.card, TableCard)
    return {str(name): str(value) for name, value, *_ in answer.card.rows}


def test_a_cap_of_a_task_stops_between_two_steps_and_loses_nothing(tmp_path: Path) -> None:
    replies = [plan(0.03, 1), plan(0.03, 2), costing(text_reply("Done."), 0.03)]
    with spending(tmp_path, *replies, task_budget=0.05) as one:
        end = end_of(run_turn(one.terminal, "plan"))
        assert (end.why, end.error_code) == ("budget", "limit")
        assert "/budget 0.1 " in str(end.detail)
        assert "$0.0600" in str(end.detail)
        assert len(one.model.requests) == 2
        records = [record for _, record in one.terminal.history.records]
        calls = [c.id for r in records if isinstance(r, Assistant) for c in r.calls]
        assert [r.call_id for r in records if isinstance(r, ToolResult)] == calls == ["c1", "c2"]
        assert one.terminal.features.state()["todos"]
        assert end_of(run_turn(one.terminal, "go on")).why == "done"


def test_a_small_cap_is_said_in_digits(tmp_path: Path) -> None:
    with spending(tmp_path, plan(0.00006, 1), task_budget=0.00005) as one:
        detail = str(end_of(run_turn(one.terminal, "plan")).detail)
        assert "has cost $0.000060 of $0.00005." in detail
        assert "/budget 0.0001 " in detail
        assert rows_of(run_turn(one.terminal, "/budget 0.00002"))["Per task"] == "$0.00002"


def test_what_a_task_cost_before_it_was_left_counts_against_its_cap(tmp_path: Path) -> None:
    """A turn that goes on in another process is still the same task."""
    replies = [plan(0.03, 1), text_reply("x"), text_reply("y")]
    with spending(tmp_path, *replies, task_budget=0.05) as one:
        run_turn(one.terminal, "plan")
        session, turn = one.terminal.session, one.terminal.history.turn
    with spending(tmp_path, task_budget=0.03) as again:
        again.terminal.resume(session)
        assert again.terminal.history.turn == turn
        assert again.terminal.over_budget_reason() is not None


def test_a_cap_is_changed_by_a_command(tmp_path: Path) -> None:
    done = costing(text_reply("Done."), 0.03)
    with spending(tmp_path, plan(0.03, 1), plan(0.03, 2), done, done, task_budget=0.01) as one:
        assert rows_of(run_turn(one.terminal, "/budget $1"))["Per task"] == "$1"
        assert rows_of(run_turn(one.terminal, "/budget day 2"))["Per day"] == "$2"
        assert end_of(run_turn(one.terminal, "plan")).why == "done"
        for none in ("off", "0"):
            assert rows_of(run_turn(one.terminal, f"/budget {none}"))["Per task"] == "no limit"
        for wrong in ("much", "-1", "nan", "inf", "day", "1 2", "9999999"):
            (answer,) = run_turn(one.terminal, f"/budget {wrong}")
            assert isinstance(answer, CommandAnswered)
            assert not answer.ok, wrong


def test_a_day_is_capped_over_all_projects_and_begins_at_the_midnight_of_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        _cap_a_day(tmp_path)
    finally:
        monkeypatch.undo()
        time.tzset()


def _cap_a_day(base: Path) -> None:
    evening = Clock(at(23, 15, 50))  # ten minutes before midnight in Shanghai
    other = base / "other project"
    with spending(base, costing(text_reply("a"), 0.6), clock=evening, daily_budget=1.0) as one:
        assert end_of(run_turn(one.terminal, "a")).why == "done"
    other.mkdir()
    with assembled_terminal(
        base,
        costing(text_reply("b"), 0.6),
        costing(text_reply("c"), 0.1),
        root=other,
        app_settings=replace(SETTINGS, daily_budget=1.0),
    ) as two:
        feature = two.terminal.features.find(Spending)
        assert feature
        feature.clock = evening
        assert end_of(run_turn(two.terminal, "b")).why == "done"
        end = end_of(run_turn(two.terminal, "c"))
        assert end.why == "budget"
        assert "$1.20" in str(end.detail)
        assert "/budget day 2 " in str(end.detail)
        evening.now = at(23, 16, 1)
        assert end_of(run_turn(two.terminal, "c")).why == "done"


def test_processes_that_spend_at_once_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from modules.spending.ledger import Ledger\n"
        f"for n in range(200): Ledger(Path(sys.argv[1])).add(0.001, {CHEAP} + n)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "spending")]
    for process in [subprocess.Popen(command, cwd=ROOT) for _ in range(3)]:
        assert process.wait() == 0
    ledger = Ledger(tmp_path / "spending")
    assert ledger.sum_since(CHEAP, CHEAP + 300) == pytest.approx(0.6)
    ledger.add(0.5, CHEAP + 100)
    assert ledger.sum_since(CHEAP + 100, CHEAP + 300) == pytest.approx(0.8)
    (file,) = (tmp_path / "spending").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_old_days_are_deleted_and_a_broken_line_is_passed_over(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "spending")
    ledger.add(1.0, CHEAP)
    ledger.add(2.0, CHEAP + KEPT_DAYS * 86_400)
    assert len(list((tmp_path / "spending").iterdir())) == 2
    ledger.add(4.0, CHEAP + (KEPT_DAYS + 1) * 86_400)
    assert len(list((tmp_path / "spending").iterdir())) == 2
    newest = max((tmp_path / "spending").iterdir())
    newest.write_bytes(newest.read_bytes() + b"half a li\n")
    assert Ledger(tmp_path / "spending").sum_since(0.0 + CHEAP, CHEAP + 1e7) == 6.0


def test_spending_that_cannot_be_kept_is_told_once_and_still_counts(tmp_path: Path) -> None:
    replies = [plan(0.6, 1), plan(0.6, 2), text_reply("never")]
    with spending(tmp_path, *replies, daily_budget=1.0) as one:
        (tmp_path / "data" / "spending").write_text("in the way")
        events = run_turn(one.terminal, "plan")
        assert end_of(events).why == "budget"
        told = [what for what in warnings(events) if "Cannot save task costs for other" in what]
        assert len(told) == 1


def test_a_model_without_a_price_keeps_no_cap_and_that_is_said_once(tmp_path: Path) -> None:
    replies = [text_reply("a"), text_reply("b")]
    with spending(tmp_path, *replies, tariff=None, task_budget=0.05) as one:
        first, second = run_turn(one.terminal, "a"), run_turn(one.terminal, "b")
        assert [what for what in warnings(first) if "do not work with scripted: " in what]
        assert warnings(second) == []
    with spending(tmp_path, text_reply("a"), tariff=None) as one:
        assert warnings(run_turn(one.terminal, "a")) == []


def test_a_task_waits_for_cheap_hours_and_then_goes_on(tmp_path: Path) -> None:
    clock = Clock(DEAR, tick=3_000)
    with spending(tmp_path, text_reply("cheap"), clock=clock, when="off-peak") as one:
        events = run_turn(one.terminal, "go")
        (waiting,) = [event for event in events if isinstance(event, Waiting)]
        assert waiting.until == at(23, 10)
        assert end_of(events).why == "done"
        assert clock.now >= at(23, 10)


def test_a_stop_ends_the_waiting(tmp_path: Path) -> None:
    with spending(tmp_path, when="off-peak", clock=Clock(DEAR)) as one:
        turn = one.terminal.run_line("go")
        events: list[Event] = []
        for event in turn:
            events.append(event)
            if isinstance(event, Waiting):
                one.terminal.stop.set()
        assert end_of(events).why == "stopped"
        assert one.model.requests == []


def test_waiting_is_switched_while_it_waits(tmp_path: Path) -> None:
    with spending(tmp_path, text_reply("now"), when="off-peak", clock=Clock(DEAR)) as one:
        events: list[Event] = []
        for event in one.terminal.run_line("go"):
            events.append(event)
            if isinstance(event, Waiting):
                assert one.terminal.run_concurrently("/when now").ok
        assert end_of(events).why == "done"


def test_nothing_waits_in_cheap_hours_or_for_a_model_without_dear_ones(tmp_path: Path) -> None:
    claude = PriceList().tariff("claude-opus-5-5")
    for tariff, now in ((FLASH, CHEAP), (claude, DEAR)):
        one_reply = text_reply("x")
        with spending(tmp_path, one_reply, tariff=tariff, when="off-peak", clock=Clock(now)) as one:
            assert not any(isinstance(event, Waiting) for event in run_turn(one.terminal, "go"))


def test_a_cheap_task_shows_nothing_before_it(tmp_path: Path) -> None:
    replies = [costing(text_reply("x"), 0.001) for _ in range(7)]
    with spending(tmp_path, *replies, clock=Clock(DEAR)) as one:
        assert [notices(run_turn(one.terminal, "go")) for _ in range(7)] == [[]] * 7


def test_a_dear_task_shows_a_range_by_past_ones_and_the_dear_hours(tmp_path: Path) -> None:
    clock = Clock(CHEAP)
    replies = [costing(text_reply("x"), dollars) for dollars in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]
    with spending(tmp_path, *replies, clock=clock) as one:
        before = [notices(run_turn(one.terminal, "go")) for _ in range(5)]
        assert before == [[]] * 5  # too little is known
        (notice,) = notices(run_turn(one.terminal, "go"))
        assert (
            "Estimated cost of this task: $0.2 to $0.4 (¥1.3 to ¥2.7) (based on the last 5 tasks)."
        ) in notice
        assert "Peak hours" not in notice
    clock.now = DEAR
    replies = [costing(text_reply("x"), 0.2)]
    with spending(tmp_path, *replies, clock=clock, task_budget=0.5) as one:
        (notice,) = notices(run_turn(one.terminal, "go"))
        assert "$0.4 to $1" in notice
        assert "exceed the budget" in notice
        assert "2 times the price; “/when off-peak”" in notice


def test_a_first_request_that_costs_much_is_told_without_past_tasks(tmp_path: Path) -> None:
    claude = PriceList().tariff("claude-fable-5")
    with spending(tmp_path, text_reply("x"), tariff=claude) as one:
        (notice,) = notices(run_turn(one.terminal, "word " * 20_000))
        assert notice.startswith("The first request alone costs $")
        assert "¥" not in notice


def test_the_cost_is_told_in_dollars_and_yuan_with_the_day_and_the_hours(tmp_path: Path) -> None:
    with spending(tmp_path, costing(text_reply("x"), 0.3), clock=Clock(DEAR)) as one:
        run_turn(one.terminal, "go")
        rows = rows_of(run_turn(one.terminal, "/cost"))
        assert rows["Cost"] == "$0.3000 (¥2.0000)"
        assert rows["Today"] == "$0.3000 in all projects"
        assert rows["Hours"].startswith("peak hours until ")
        one.terminal.model.model = "another"
        one.terminal.save_state()
        assert rows_of(run_turn(one.terminal, "/cost"))["Cost"] == "$0.3000"
