"""Helpers: a turn inside a call, with a history of its own in the log of its session."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.conversation.helper_records import helpers_in
from core.conversation.messages import Assistant, Record, ToolResult
from core.conversation.transcript import replay_events
from core.events import (
    ApprovalAsked,
    Event,
    HelperEvent,
    Reply,
    StepFinished,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    to_json,
)
from core.loop.turn import drive
from core.main_terminal import MainTerminal
from modules.cli.attach.http import to_event
from tests.assembly import SETTINGS, AssembledTerminal, assembled_terminal
from tests.campaign import seeded
from tests.modules.delegation.helper_models import PARENT, ModelOfHelpers
from tests.scripted_model import Item, call_reply, calls_reply, text_reply
from utils.i18n import phrase
from utils.llm.completion import ModelError
from utils.waiting import Stop

Scripts = dict[str, list[list[Item]]]


@contextmanager
def at_work(base: Path, scripts: Scripts, **settings: Any) -> Iterator[AssembledTerminal]:
    (base / "project").mkdir(exist_ok=True)
    if not (base / "project" / "a.txt").exists():
        (base / "project" / "a.txt").write_text("hello\n", encoding="utf-8")
    with assembled_terminal(base, model=ModelOfHelpers(scripts), **settings) as assembled:
        yield assembled


def delegated(*tasks: str, **arguments: Any) -> list[Item]:
    """A reply that gives each of *tasks* to a helper."""
    given = enumerate(tasks, 1)
    return calls_reply(
        *((f"d{n}", "delegate", json.dumps({"task": task, **arguments})) for n, task in given)
    )


def shown(terminal: MainTerminal, line: str, reply: Reply | None = None) -> list[Event]:
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        return reply if isinstance(event, ApprovalAsked) else None

    drive(terminal.run_line(line), show)
    return events


def answers(terminal: MainTerminal) -> list[ToolResult]:
    return [one for _, one in terminal.history.records if isinstance(one, ToolResult)]


def unanswered(records: list[tuple[int, Record]]) -> list[str]:
    """Return what is wrong with the answers to the calls in *records*: each has exactly one."""
    wanted: dict[str, int] = {}
    wrong: list[str] = []
    for _, record in records:
        if isinstance(record, Assistant):
            wrong += [f"{name}: {count}" for name, count in wanted.items() if count != 1]
            wanted = {call.id: 0 for call in record.calls}
        elif isinstance(record, ToolResult):
            wanted[record.call_id] = wanted.get(record.call_id, 5) + 1
    return wrong + [f"{name}: {count}" for name, count in wanted.items() if count != 1]


def wrong_at_any_level(terminal: MainTerminal) -> list[str]:
    nested = [unanswered(helper.records) for helper in helpers_in(terminal.history.log)]
    return unanswered(terminal.history.records) + [one for each in nested for one in each]


def test_a_helper_answers_with_receipts_and_shares_the_beginning_of_the_prompt(
    tmp_path: Path,
) -> None:
    scripts: Scripts = {
        PARENT: [delegated("look at it", files="a.txt"), text_reply("Done.")],
        "look": [call_reply("read_file", path="a.txt"), text_reply("It says hello.")],
    }
    with at_work(tmp_path, scripts) as assembled:
        events = shown(assembled.terminal, "go")
        model = assembled.terminal.model
        assert isinstance(model, ModelOfHelpers)

        [answer] = answers(assembled.terminal)
        assert answer.state == "done"
        assert answer.text.startswith("It says hello.\n")
        assert "Files it read: a.txt." in answer.text
        # The same instructions and tools, to the byte; and nothing of it is in the session's own.
        assert model.seen["look"][0][0] == model.seen[PARENT][0][0]
        assert json.dumps(model.lists["look"]) == json.dumps([model.lists[PARENT][0]] * 2)
        assert [one["role"] for one in model.seen[PARENT][1]].count("tool") == 1

        nested = [one.event for one in events if isinstance(one, HelperEvent)]
        assert {one.parent for one in events if isinstance(one, HelperEvent)} == {"d1"}
        assert sum(isinstance(one, StepFinished) for one in nested) == 2
        end = events[-1]
        assert isinstance(end, TurnFinished)
        assert end.usage.requests == 4
        assert assembled.terminal.usage.requests == 4

        # The log tells the same once more: to a page that comes late, and to an export.
        again = list(replay_events(assembled.terminal.history.records))
        kept = [one for one in events if isinstance(one, HelperEvent | ToolStarted | ToolFinished)]
        told = [one for one in again if isinstance(one, HelperEvent | ToolStarted | ToolFinished)]
        assert [to_json(one)["type"] for one in told] == [to_json(one)["type"] for one in kept]
        # So does what the page's socket carries, to a terminal that is attached to it.
        packets = [json.loads(json.dumps(to_json(one))) for one in events]
        assert [to_json(to_event(one)) for one in packets] == packets
        assert wrong_at_any_level(assembled.terminal) == []


def test_read_only_helpers_of_one_reply_run_at_once_and_no_helper_has_helpers(
    tmp_path: Path,
) -> None:
    together = threading.Barrier(4, timeout=30)

    def meet(_: Stop) -> None:
        together.wait()

    names = ["one", "two", "three", "four"]
    scripts: Scripts = {
        PARENT: [delegated(*names), text_reply("Done.")],
        **{name: [[meet, *text_reply(f"{name} is done.")]] for name in names[:3]},
        "four": [[meet, *delegated("deeper")], text_reply("four is done.")],
    }
    with at_work(tmp_path, scripts) as assembled:
        events = shown(assembled.terminal, "go")

        found = {one.call_id: one.text.partition("\n")[0] for one in answers(assembled.terminal)}
        assert found == {f"d{n}": f"{name} is done." for n, name in enumerate(names, 1)}
        assert any(
            isinstance(one, HelperEvent)
            and isinstance(one.event, ToolFinished)
            and one.event.state == "failed"
            for one in events
        )
        assert wrong_at_any_level(assembled.terminal) == []


def test_a_helper_fails_loops_and_overruns_and_the_task_goes_on(tmp_path: Path) -> None:
    error = ModelError("server", phrase("The server is down."))
    again = [call_reply("list_files") for _ in range(20)]
    scripts: Scripts = {
        PARENT: [
            delegated("fails"),
            delegated("overruns", steps=2),
            delegated("costs", budget=0.00005),
            delegated("loops"),
            text_reply("Done."),
        ],
        "fails": [[error]] * 4,
        "overruns": again[:2],
        "costs": again[:1],
        "loops": again,
    }
    with at_work(tmp_path, scripts) as assembled:
        events = shown(assembled.terminal, "go")

        texts = [one.text for one in answers(assembled.terminal)]
        assert [one.state for one in answers(assembled.terminal)] == ["failed"] * 4
        assert "The server is down." in texts[0]
        assert "limit of 2 model calls" in texts[1]
        assert "to continue.\n" in texts[1]
        assert "The helper's budget of $0.00005 is used up.\n" in texts[2]
        assert "kept calling list_files" in texts[3]
        end = events[-1]
        assert isinstance(end, TurnFinished)
        assert end.why == "done"
        assert wrong_at_any_level(assembled.terminal) == []


def test_the_steps_of_helpers_are_the_tasks_own(tmp_path: Path) -> None:
    scripts: Scripts = {
        PARENT: [delegated("one", steps=50), delegated("two"), text_reply("Done.")],
        "one": [call_reply("list_files"), text_reply("one is done.")],
        "two": [text_reply("never")],
    }
    with at_work(tmp_path, scripts, step_limit=4) as assembled:
        end = shown(assembled.terminal, "go")[-1]

        assert isinstance(end, TurnFinished)
        assert end.why == "step_limit"
        assert end.usage.requests <= 4
        assert "no model calls left" in answers(assembled.terminal)[-1].text


def test_what_helpers_spend_is_counted_once_of_the_tasks_budget(tmp_path: Path) -> None:
    scripts: Scripts = {  # each reply costs $0.001
        PARENT: [delegated("one", budget=1.0), text_reply("never")],
        "one": [call_reply("list_files", depth=n) for n in range(1, 9)],
    }
    settings = replace(SETTINGS, task_budget=0.0035)
    with at_work(tmp_path, scripts, app_settings=settings) as assembled:
        end = shown(assembled.terminal, "go")[-1]

        assert isinstance(end, TurnFinished)
        assert (end.why, end.usage.requests) == ("budget", 4)
        assert wrong_at_any_level(assembled.terminal) == []


def test_one_that_goes_on_has_the_steps_that_it_was_given_and_no_more(tmp_path: Path) -> None:
    scripts: Scripts = {
        PARENT: [delegated("one", steps=3), text_reply("Done.")],
        "one": [
            call_reply("list_files"),
            call_reply("ask_person", question="Which one?", choices=["red", "blue"]),
            *(call_reply("list_files", depth=n) for n in range(2, 9)),
        ],
    }

    def leave(event: Event) -> Reply | None:
        if isinstance(event, ApprovalAsked):
            raise Left
        return None

    with at_work(tmp_path, scripts, step_limit=9) as assembled:
        with pytest.raises(Left):
            drive(assembled.terminal.run_line("go"), leave)
        left, session = assembled.terminal.model, assembled.terminal.session
        assert isinstance(left, ModelOfHelpers)
    with at_work(tmp_path, left.scripts, step_limit=9) as assembled:
        assembled.terminal.resume(session)
        drive(assembled.terminal.resume_turn(), lambda _: Reply(yes=True, text="red"))

        [helper] = helpers_in(assembled.terminal.history.log)
        assert sum(isinstance(one, Assistant) for _, one in helper.records) == 3
        assert "limit of 3 model calls" in answers(assembled.terminal)[0].text


def test_a_helper_reads_only_whatever_its_session_may(tmp_path: Path) -> None:
    scripts: Scripts = {
        PARENT: [delegated("write"), text_reply("Done.")],
        "write": [call_reply("create_file", path="b.txt", content="x"), text_reply("Tried.")],
    }
    with at_work(tmp_path, scripts, approval_mode="all") as assembled:
        shown(assembled.terminal, "go", Reply(yes=True))

        assert not (assembled.root / "b.txt").exists()
        [helper] = helpers_in(assembled.terminal.history.log)
        [refused] = [one for _, one in helper.records if isinstance(one, ToolResult)]
        assert refused.state == "refused"


def test_what_a_helper_wants_to_do_can_be_edited_as_any_call(tmp_path: Path) -> None:
    scripts: Scripts = {
        PARENT: [delegated("write", mode="write"), text_reply("Done.")],
        "write": [call_reply("create_file", path="b.txt", content="one\n"), text_reply("Written.")],
    }
    asked: list[ApprovalAsked] = []

    def edit(event: Event) -> Reply | None:
        if not isinstance(event, ApprovalAsked):
            return None
        asked.append(event)
        if not event.may_revise:
            return None
        return Reply(yes=True, arguments={**(event.arguments or {}), "content": "two\n"})

    with at_work(tmp_path, scripts, approval_mode="ask") as assembled:
        drive(assembled.terminal.run_line("go"), edit)

        question = next(one for one in asked if one.name == "create_file")
        assert question.may_revise
        assert question.arguments == {"path": "b.txt", "content": "one\n"}
        assert (assembled.root / "b.txt").read_text() == "two\n"
        [helper] = helpers_in(assembled.terminal.history.log)
        [answer] = [one for _, one in helper.records if isinstance(one, ToolResult)]
        assert (answer.revised or {})["content"] == "two\n"
        assert "The person changed this call" in answer.text


def test_a_stop_ends_all_of_them(tmp_path: Path) -> None:
    def stop(_: Stop) -> None:
        assembled.terminal.stop.set()

    def hang(helper_stop: Stop) -> None:
        assert helper_stop.wait(30)

    scripts: Scripts = {
        PARENT: [delegated("one", "two")],
        "one": [[stop, *text_reply("never")]],
        "two": [[hang, *text_reply("never")]],
    }
    with at_work(tmp_path, scripts) as assembled:
        end = shown(assembled.terminal, "go")[-1]

        assert isinstance(end, TurnFinished)
        assert end.why == "stopped"
        assert {one.state for one in answers(assembled.terminal)} == {"stopped"}
        assert wrong_at_any_level(assembled.terminal) == []


class Left(Exception):
    """The screen goes away."""


def test_a_question_of_a_helper_says_who_asks_and_outlives_us(tmp_path: Path) -> None:
    asks = call_reply("ask_person", question="Which one?", choices=["red", "blue"])
    scripts: Scripts = {
        PARENT: [delegated("beside", "find the colour"), text_reply("Done.")],
        "beside": [text_reply("beside is done.")] * 2,  # it may be left before that is kept
        "find": [call_reply("read_file", path="a.txt"), asks, text_reply("It is blue.")],
    }

    def leave(event: Event) -> Reply | None:
        if isinstance(event, ApprovalAsked):
            raise Left
        return None

    with at_work(tmp_path, scripts) as assembled:
        try:
            drive(assembled.terminal.run_line("go"), leave)
            raise AssertionError("nobody was asked")
        except Left:
            session = assembled.terminal.session
        left = assembled.terminal.model
        assert isinstance(left, ModelOfHelpers)
    scripts = {name: list(rest) for name, rest in left.scripts.items()}
    with at_work(tmp_path, scripts) as assembled:
        assembled.terminal.resume(session)
        assert assembled.terminal.has_open_turn
        asked: list[ApprovalAsked] = []
        events: list[Event] = []

        def answer(event: Event) -> Reply | None:
            events.append(event)
            if isinstance(event, ApprovalAsked):
                asked.append(event)
                return Reply(yes=True, text="blue")
            return None

        drive(assembled.terminal.resume_turn(), answer)

        [question] = asked
        assert question.parent == question.call_id == "d2"
        assert "find the colour" in str(question.why)
        assert "Which one?" in str(question.why)
        texts = {one.call_id: one.text for one in answers(assembled.terminal)}
        assert texts["d1"].startswith("beside is done.")
        assert texts["d2"].startswith("It is blue.")
        assert "Files it read: a.txt." in texts["d2"]
        end = events[-1]
        assert isinstance(end, TurnFinished)
        assert end.why == "done"
        assert wrong_at_any_level(assembled.terminal) == []


class WildScripts(dict[str, list[list[Item]]]):
    """Says anything, to whoever asks, until its chance says that it is enough."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance

    def __getitem__(self, name: str) -> Any:
        return self

    def items(self) -> Any:
        return ()

    def pop(self, _: Any) -> list[Item]:  # type: ignore[override]
        kind = self.chance.randrange(8)
        if kind == 0:
            return [ModelError("server", phrase("The server is down."))]
        if kind in (1, 2):
            return text_reply("Said.")
        count = self.chance.randrange(1, 5)
        return calls_reply(*(self._call(n) for n in range(count)))

    def _call(self, number: int) -> tuple[str, str, str]:
        kind = self.chance.randrange(6)
        names = {0: "list_files", 1: "no_such_tool", 2: "ask_person"}
        given: dict[str, Any] = {"question": "Well?"} if kind == 2 else {}
        if kind > 2:
            given = {"task": f"work {number}", "steps": self.chance.randrange(1, 4)}
        return f"c{number}", names.get(kind, "delegate"), json.dumps(given)


@seeded(4)
def test_each_call_of_every_level_has_one_answer(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    model = ModelOfHelpers({})
    session = ""
    for turn in range(4):
        with at_work(tmp_path, {}, step_limit=12) as assembled:
            model = assembled.terminal.model  # type: ignore[assignment]
            model.scripts = WildScripts(random.Random(seed * 100 + turn))
            if session:
                assembled.terminal.resume(session)
            left_at = chance.randrange(60)

            def show(event: Event, left_at: int = left_at, seen: list[int] = []) -> Reply | None:  # noqa: B006, B008
                seen.append(1)
                if len(seen) == left_at:
                    raise Left
                if isinstance(event, ApprovalAsked) and chance.random() < 0.7:
                    return Reply(yes=True, text="Yes")
                return None

            try:
                if assembled.terminal.has_open_turn:
                    drive(assembled.terminal.resume_turn(), show)
                else:
                    drive(assembled.terminal.run_line("go"), show)
            except Left:
                pass
            session = assembled.terminal.session
    with at_work(tmp_path, {}) as assembled:
        assembled.terminal.resume(session)
        if assembled.terminal.has_open_turn:
            assembled.terminal.model.scripts = {  # type: ignore[attr-defined]
                PARENT: [text_reply("Enough.")]
            }
            shown(assembled.terminal, "something else")
        assert wrong_at_any_level(assembled.terminal) == []
