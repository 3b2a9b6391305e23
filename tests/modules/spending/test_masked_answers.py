"""Old, large answers of tools are left out where that pays, and only there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard
from core.conversation.messages import StateRecord, ToolResult
from core.events import CommandAnswered, Event, Informed
from modules.spending.mask_gain import (
    KEPT_STEPS,
    Answer,
    best_mask,
    old_answers,
    steps_left,
)
from modules.spending.past_tasks import PastTask, PastTasks
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.core.loop.test_turn import check_whole
from tests.scripted_model import Item, call_reply, run_turn, text_reply
from utils.llm.completion import Completion, Usage
from utils.llm.prices import Price, PriceList, Tariff

FLASH = PriceList().tariff("deepseek-flash")
LINES = 1_500
CALLS = 16


def uncounted(reply: list[Item]) -> list[Item]:
    """Return *reply* as one of a server that counts no tokens: then they are estimated."""
    *deltas, last = reply
    assert isinstance(last, Completion)
    return [*deltas, replace(last, usage=Usage())]


@contextmanager
def reading(
    base: Path, *, tariff: Tariff | None = FLASH, past_steps: Sequence[int] = (900, 900, 900)
) -> Iterator[AssembledTerminal]:
    """A session whose model reads large files in *CALLS* steps, where such tasks take long."""
    base.mkdir(exist_ok=True)
    replies = [
        uncounted(call_reply("read_file", id=f"c{n}", path=f"f{n}.txt")) for n in range(CALLS)
    ]
    with assembled_terminal(base, *replies, text_reply("Read.")) as one:
        for n in range(CALLS):
            (one.root / f"f{n}.txt").write_text(f"file number {n} has this line\n" * LINES)
        one.model.tariff = tariff
        for steps in past_steps:
            PastTasks(one.data.past_tasks).add(PastTask("scripted", 0.1, steps, 3_000))
        yield one


def answers_sent(one: AssembledTerminal, request: int) -> list[str]:
    return [m["content"] for m in one.model.requests[request] if m["role"] == "tool"]


def left_out(one: AssembledTerminal, request: int) -> list[bool]:
    return ["left out here to save tokens" in text for text in answers_sent(one, request)]


def told(events: Sequence[Event]) -> list[str]:
    said = [str(event.what) for event in events if isinstance(event, Informed)]
    return [what for what in said if "No longer sending" in what]


def breaks(one: AssembledTerminal) -> list[Any]:
    log = one.terminal.history.log
    return [r.value for _, r in log if isinstance(r, StateRecord) and r.name == "prefix_break"]


def test_old_answers_are_left_out_in_one_block_that_is_named(tmp_path: Path) -> None:
    with reading(tmp_path) as one:
        events = run_turn(one.terminal, "read all of these files, one after the other")
        assert not any(left_out(one, 9))
        first = left_out(one, 10)
        assert first == [True] * (10 - KEPT_STEPS) + [False] * KEPT_STEPS
        assert left_out(one, 11)[: len(first)] == first
        (break_, *_) = breaks(one)
        assert break_["reason"] == "masked"
        assert break_["tokens"] > 0
        (notice, *_) = told(events)
        assert notice.startswith("No longer sending 5 old tool results")
        assert "$" in notice
        assert "(¥" in notice
        for request in one.model.requests:
            check_whole(request)
        kept = [r.text for _, r in one.terminal.history.records if isinstance(r, ToolResult)]
        assert all(text.count("has this line") > 100 for text in kept)


def test_the_cause_is_named_where_the_prompt_is_shown(tmp_path: Path) -> None:
    with reading(tmp_path) as one:
        send = one.model.stream

        def stream(messages: Any, tools: Any, **how: Any) -> Iterator[Any]:
            body = {"model": "scripted", "tools": tools, "messages": messages}
            one.model.on_request(json.dumps(body).encode())
            yield from send(messages, tools, **how)

        one.model.stream = stream  # type: ignore[method-assign]
        run_turn(one.terminal, "read all of these files, one after the other")
        (answer,) = run_turn(one.terminal, "/context")
    assert isinstance(answer, CommandAnswered)
    assert isinstance(answer.card, TableCard)
    causes = [" ".join(map(str, row)) for row in answer.card.rows]
    assert [n for n, row in enumerate(causes) if "old tool results were dropped" in row]


def test_all_of_such_an_answer_can_be_read(tmp_path: Path) -> None:
    with reading(tmp_path) as one:
        run_turn(one.terminal, "read all of these files, one after the other")
        note = answers_sent(one, 10)[0]
        address = note.partition('read "')[2].partition('"')[0]
        assert address.startswith("@output/")
        one.model.replies = [
            call_reply("read_file", id="again", path=address, start_line=2, end_line=2),
            text_reply("So it was."),
        ]
        run_turn(one.terminal, "read the answer that was left out once more")
        assert "file number 0 has this line" in answers_sent(one, -1)[-1]


def test_it_stays_so_when_the_session_goes_on_elsewhere(tmp_path: Path) -> None:
    with reading(tmp_path) as one:
        run_turn(one.terminal, "read all of these files, one after the other")
        messages = one.terminal.history.messages()
    with assembled_terminal(tmp_path, text_reply("Yes.")) as again:
        again.terminal.resume()
        assert again.terminal.history.messages() == messages
        again.terminal.rewind(1, 7)
        again.terminal.undo_rewind(7)
        assert again.terminal.history.messages() == messages


@pytest.mark.parametrize(
    "how",
    [
        {"tariff": None},  # no price
        {"past_steps": ()},  # nothing was measured
        {"past_steps": (900, 900)},  # too little was
        {"past_steps": (14, 14, 14)},  # such tasks are nearly over by then
    ],
)
def test_nothing_is_left_out_where_nobody_knows_that_it_pays(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    with reading(tmp_path, **how) as one:
        events = run_turn(one.terminal, "read all of these files, one after the other")
        assert not any(left_out(one, -1))
        assert (told(events), breaks(one)) == ([], [])


def test_nothing_is_left_out_where_the_server_gives_an_id_again(tmp_path: Path) -> None:
    with reading(tmp_path) as one:
        one.model.replies = [
            *(uncounted(call_reply("read_file", path=f"f{n}.txt")) for n in range(CALLS)),
            text_reply("Read."),
        ]
        run_turn(one.terminal, "read all of these files, one after the other")
        assert not any(left_out(one, -1))


def test_a_short_task_never_loses_an_answer(tmp_path: Path) -> None:
    with reading(tmp_path) as one:
        one.model.replies = [*one.model.replies[:9], text_reply("Read.")]
        run_turn(one.terminal, "read nine of these files, one after the other")
        assert breaks(one) == []


def test_the_gain_is_what_is_saved_in_each_step_less_what_is_read_anew_once() -> None:
    price = Price(hit=1.0, miss=11.0, output=0.0)
    first, second = Answer(1, "a", 30_000, 90_000), Answer(1, "b", 30_000, 50_000)
    # both: 60,000 saved and 30,000 read anew for 10 more; the second alone: 30,000 and 20,000
    assert best_mask([first, second], price, 5.0) is None
    both = best_mask([first, second], price, 8.0)
    assert both
    assert (both.answers, both.saves, both.read_again) == ([first, second], 60_000, 30_000)
    assert both.dollars == pytest.approx((8 * 60_000 - 30_000 * 10) / 1_000_000)
    near = Answer(1, "b", 30_000, 31_000)
    alone = best_mask([Answer(1, "a", 1_000, 90_000), near], price, 1.0)
    assert alone
    assert alone.answers == [near]
    assert best_mask([Answer(1, "b", 19_000, 19_100)], price, 100.0) is None
    assert best_mask([], price, 100.0) is None


def test_steps_to_come_are_those_of_tasks_that_went_on_so_far() -> None:
    tasks = [PastTask("m", 0.1, steps, 100) for steps in (2, 5, 20, 30, 40)]
    assert steps_left(tasks, 10) == 20.0
    assert steps_left(tasks, 25) == 0.0
    assert old_answers([]) == []
