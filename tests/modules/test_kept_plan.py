"""The plan is kept: open todos stand near the end of what the model reads, and are asked about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from core.events import Event, Informed, TurnFinished
from modules.cli.print_mode import PlainScreen
from modules.todos import STEPS_BETWEEN
from modules.translator import Translator
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import Item, call_reply, calls_reply, run_turn, text_reply

ASKED = "Your list has open todos:"
TOLD = "Your open todos"


def plan(*titles: str, status: str = "pending", id: str = "t") -> list[Item]:  # noqa: A002
    return call_reply(
        "update_todos", id=id, todos=[{"title": title, "status": status} for title in titles]
    )


def work(number: int) -> list[Item]:
    return call_reply("create_file", id=f"w{number}", path=f"{number}.txt", content="x\n")


def contexts(env: AssembledTerminal, start: str, *, request: int = -1) -> list[str]:
    """Return what the system says in a request that begins with *start*."""
    told: Sequence[Any] = env.model.requests[request]
    texts = [one["content"] for one in told if one["role"] == "system"]
    return [part for text in texts for part in text.split("\n\n") if part.startswith(start)]


def end_of(events: Sequence[Event]) -> TurnFinished:
    end = events[-1]
    assert isinstance(end, TurnFinished)
    return end


def breaks(env: AssembledTerminal) -> list[Any]:
    return [r for _, r in env.terminal.history.log if getattr(r, "name", "") == "prefix_break"]


def test_they_are_told_again_after_six_steps_at_the_end_and_break_no_prefix(
    tmp_path: Path,
) -> None:
    works = [work(number) for number in range(2 * STEPS_BETWEEN)]
    with assembled_terminal(tmp_path, plan("读文件", "write"), *works, text_reply("Ok?")) as env:
        run_turn(env.terminal, "go")
        counts = [
            len(contexts(env, TOLD, request=number)) for number in range(len(env.model.requests))
        ]
        # The call is reply 1, and the first request after it finds the list at its end.
        first, second = 1 + STEPS_BETWEEN, 1 + 2 * STEPS_BETWEEN
        assert counts == [0] * first + [1] * (second - first) + [2]
        text = f"{TOLD} (0 of 2 done):\n- [pending] 读文件\n- [pending] write"
        assert env.model.requests[first][-1] == {"role": "system", "content": text}
        assert breaks(env) == []


@pytest.mark.parametrize("is_last", [True, False])
def test_what_changed_is_at_the_end_and_told_only_where_its_call_is_not(
    tmp_path: Path, is_last: bool
) -> None:
    todos = json.dumps({"todos": [{"title": "a", "status": "pending"}]})
    calls = [("t", "update_todos", todos), ("w", "create_file", '{"path": "x", "content": "x"}')]
    both = calls_reply(*(calls[::-1] if is_last else calls))
    with assembled_terminal(tmp_path, both, work(1), text_reply("Go on?")) as env:
        run_turn(env.terminal, "go")
        told = [f"{TOLD} (0 of 1 done):\n- [pending] a"]
        for request in (1, 2):
            assert contexts(env, TOLD, request=request) == ([] if is_last else told)
        if not is_last:
            assert env.model.requests[1][-1] == {"role": "system", "content": told[0]}
        assert breaks(env) == []


def test_what_the_person_took_back_is_told_at_the_next_task(tmp_path: Path) -> None:
    replies = [plan("a"), plan("a", "b", id="u"), text_reply("Which one?"), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies) as env:
        run_turn(env.terminal, "go")
        run_turn(env.terminal, "/undo call")
        run_turn(env.terminal, "on")
        assert contexts(env, TOLD) == [f"{TOLD} (0 of 1 done):\n- [pending] a"]
        assert breaks(env) == []


def test_a_list_that_is_done_or_was_never_made_costs_nothing(tmp_path: Path) -> None:
    works = [work(number) for number in range(STEPS_BETWEEN + 1)]
    finished = plan("a", status="completed", id="u")
    with assembled_terminal(tmp_path, *works, plan("a"), finished, *works, text_reply("x")) as env:
        end = end_of(run_turn(env.terminal, "go"))
        assert end.still_open is None
        said = str(env.model.requests[-1])
        assert TOLD not in said
        assert ASKED not in said
        assert "No longer valid" not in said


def test_they_stand_after_older_turns_gave_way_once(tmp_path: Path) -> None:
    replies = [plan("write it up"), text_reply("Go on?"), text_reply("b"), text_reply("- digest")]
    with assembled_terminal(
        tmp_path, *replies, text_reply("ok"), summary_prompt="You sum up."
    ) as env:
        for line in ("one", "two", "/compact", "three"):
            run_turn(env.terminal, line)
        assert str(env.model.requests[-1]).count("write it up") == 1


def test_a_list_of_a_task_that_was_stopped_is_told_to_the_next(tmp_path: Path) -> None:
    replies = [plan("a"), [lambda stop: stop.set(), *text_reply("never")], text_reply("ok")]
    with assembled_terminal(tmp_path, *replies, step_limit=1) as env:
        run_turn(env.terminal, "go")
        env.model.replies = [text_reply("ok")]
        run_turn(env.terminal, "on")
        assert contexts(env, TOLD) == [f"{TOLD} (0 of 1 done):\n- [pending] a"]


def test_who_ends_with_open_todos_is_asked_once_whether_it_is_done(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, plan("a", "b"), text_reply("Done."), text_reply("Done, all of it.")
    ) as env:
        events = run_turn(env.terminal, "go")
        end = end_of(events)
        (question,) = contexts(env, ASKED)
        assert "- [pending] a\n- [pending] b" in question
        assert env.model.requests[-1][-1]["role"] == "system"
        assert (end.why, str(end.still_open)) == ("done", "Still to do: a; b")
        (told,) = [event.what for event in events if isinstance(event, Informed)]
        assert Translator.of("zh").render(told) != str(told)
        assert breaks(env) == []


def test_a_program_reads_the_answer_that_comes_last(tmp_path: Path) -> None:
    replies = [plan("a"), text_reply("Done."), text_reply("All but a.")]
    out = StringIO()
    screen = PlainScreen("text", out, StringIO(), Translator.of("en"), project="/p")
    with assembled_terminal(tmp_path, *replies) as env:
        for event in run_turn(env.terminal, "go"):
            screen.show(event)
    assert screen.finish("s") == 0
    assert out.getvalue() == "All but a.\n"


def test_it_may_do_what_is_left(tmp_path: Path) -> None:
    finished = plan("a", status="done", id="u")
    with assembled_terminal(
        tmp_path, plan("a"), text_reply("Done."), finished, text_reply("All.")
    ) as env:
        assert end_of(run_turn(env.terminal, "go")).still_open is None


@pytest.mark.parametrize(
    "words", ["Shall I?", "要我继续吗？", "**Which of them?**", "“可以吗？”\n"]
)
def test_who_asks_the_person_is_not_asked(tmp_path: Path, words: str) -> None:
    with assembled_terminal(tmp_path, plan("a"), text_reply(words)) as env:
        assert end_of(run_turn(env.terminal, "go")).why == "done"


def test_a_later_task_that_works_is_asked_about_what_is_left(tmp_path: Path) -> None:
    done = [text_reply("Done."), text_reply("Yes, done.")]
    with assembled_terminal(tmp_path, plan("a"), text_reply("Go on?"), work(1), *done) as env:
        run_turn(env.terminal, "go")
        run_turn(env.terminal, "go on")
        assert len(contexts(env, ASKED)) == 1
        assert breaks(env) == []


def test_a_later_task_that_only_talks_is_not_asked(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, plan("a"), text_reply("Go on?"), text_reply("Hi.")) as env:
        run_turn(env.terminal, "go")
        end = end_of(run_turn(env.terminal, "hello"))
        assert (end.why, str(end.still_open)) == ("done", "Still to do: a")
        assert contexts(env, ASKED) == []


@pytest.mark.parametrize(
    "settings", [{"step_limit": 2}, {"is_practice": True}, {"budget_usd": 0.002}]
)
def test_nothing_is_asked_without_a_reply_left_or_the_money_or_an_ai(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    with assembled_terminal(tmp_path, plan("a"), text_reply("Done.")) as env:
        for name, value in settings.items():
            setattr(env.terminal, name, value)
        end = end_of(run_turn(env.terminal, "go"))
        assert (end.why, len(env.model.requests)) == ("done", 2)
