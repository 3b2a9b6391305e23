"""The board: what works in a project, what it does and asks, and how one thing of it is stopped."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest

from config import ROOT
from core.cards import TableCard
from core.events import ApprovalAsked, Event, Reply, ToolFinished
from core.loop.turn import drive
from modules.agents.feature import Agents
from modules.assembly.terminal import begin_task
from modules.sessions.store import Sessions
from tests.racing import Racing, Responder, program_variables, racing, start
from tests.scripted_model import start_thread
from tests.simulator import Call, Say, Stall
from tests.simulator.script import Step
from tests.simulator.server import ReceivedRequest, wait_for
from utils.i18n import Phrase


def board(at: Racing) -> list[tuple[str, ...]]:
    """Return the rows of `/agents`, run beside the turn."""
    card = at.terminal.run_concurrently("/agents").card
    assert isinstance(card, TableCard)
    return [tuple(map(str, row)) for row in card.rows]


def test_the_board_shows_who_works_and_stops_one_racer_alone(tmp_path: Path) -> None:
    def answer(_: ReceivedRequest, step: int) -> Step:
        if step == 1:
            return Call("create_file", path="new.txt", content="x")
        if step == 2:
            at_work.release()
            return Stall()
        return Say("unreachable")

    at_work = threading.Semaphore(0)
    with racing(tmp_path, Responder([answer, answer])) as at:
        assert at.terminal.run_concurrently("/agents").ok
        events: list[Event] = []
        rows_at_choice: list[tuple[str, ...]] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            if not isinstance(event, ApprovalAsked):
                return None
            rows_at_choice.extend(board(at))
            return Reply(yes=False)

        turn = start_thread(lambda: drive(at.terminal.run_line("/race 2 Do it."), show))
        assert at_work.acquire(timeout=300)
        assert at_work.acquire(timeout=300)
        rows = board(at)
        assert [row[0].partition(":")[0] for row in rows] == [
            "session (this one)",
            "race",
            "racer",
            "racer",
        ]
        assert [row[2] for row in rows] == ["working"] * 4
        assert rows[0][3] == "/race 2 Do it."
        assert all(row[4] != "$0.0000" for row in rows[2:])
        assert not at.terminal.run_concurrently("/agents stop nothing").ok
        for row in rows[2:]:
            assert at.terminal.run_concurrently(f"/agents stop {row[1]}").ok
        turn.join(300)
        assert not turn.is_alive()
        tables = [one.card for one in events if isinstance(one, ToolFinished)]
        table = next(card for card in tables if isinstance(card, TableCard))
        assert [str(row[1]) for row in table.rows] == ["stopped", "stopped"]
        assert not at.terminal.stop.is_set()
        assert [row[2] for row in rows_at_choice] == ["asks", "asks", "idle", "idle"]
        assert rows_at_choice[1][3] == "Which result should be taken?"
        rows = board(at)
        assert [row[2] for row in rows] == ["idle", "waits for a choice"]
        assert not at.terminal.run_concurrently(f"/agents stop {rows[1][1]}").ok
        at.run("/race drop")
        assert [row[2] for row in board(at)] == ["idle"]


def test_what_a_racer_costs_is_without_the_conversation_before_it(tmp_path: Path) -> None:
    at_work = threading.Semaphore(0)

    def answer(_: ReceivedRequest, step: int) -> Step:
        if step == 1:
            return Call("create_file", path="new.txt", content="x")
        at_work.release()
        return Stall()

    responder = Responder([answer, answer], after=Say("word " * 20_000))
    with racing(tmp_path, responder) as at:
        at.run("Say much.")
        before = at.terminal.usage.cost_usd
        turn = start_thread(lambda: drive(at.terminal.run_line("/race 2 Do it."), lambda _: None))
        assert at_work.acquire(timeout=300)
        assert at_work.acquire(timeout=300)
        agents = at.terminal.features.find(Agents)
        assert agents
        _, race, *racers = agents.work()
        at.terminal.stop.set()
        turn.join(300)
        assert all(0 < one.cost_usd < before / 2 for one in [race, *racers])


def test_a_helper_is_on_the_board_and_is_stopped_alone(tmp_path: Path) -> None:
    at_work = threading.Semaphore(0)
    asks = Call("ask_person", question="Which colour?", choices=["red", "blue"])
    delegates = Call("delegate", task="find the colour")
    script: list[Step] = [delegates, asks, Stall(), Say("Without it, then.")]
    steps = iter(script)
    requests: list[ReceivedRequest] = []

    def answer(request: ReceivedRequest) -> Step:
        requests.append(request)
        step = next(steps)
        if isinstance(step, Stall):
            at_work.release()
        return step

    with racing(tmp_path, answer) as at:
        rows_at_question: list[tuple[str, ...]] = []

        def show(event: Event) -> Reply | None:
            events.append(event)
            if not isinstance(event, ApprovalAsked):
                return None
            rows_at_question.extend(board(at))
            return Reply(yes=True, text="blue")

        events: list[Event] = []
        turn = start_thread(lambda: drive(at.terminal.run_line("Paint it."), show))
        assert at_work.acquire(timeout=300)
        session, helper = rows_at_question
        assert session[2:4] == ("asks", "delegate find the colour")
        assert helper[0] == "helper: find the colour"
        assert helper[2:4] == ("asks", "ask_person Which colour?")
        assert helper[4] != "$0.0000"
        assert [row[2] for row in board(at)] == ["working", "working"]
        assert at.terminal.run_concurrently(f"/agents stop {helper[1]}").ok
        turn.join(300)
        assert not turn.is_alive()
        assert "The helper did not finish" in requests[-1].messages[-1]["content"]
        assert not at.terminal.stop.is_set()
        assert [row[2] for row in board(at)] == ["idle"]
        assert not at.terminal.run_concurrently(f"/agents stop {helper[1]}").ok


def test_a_session_works_to_the_very_end_of_its_turn(tmp_path: Path) -> None:
    with racing(tmp_path, [Call("create_file", path="a.txt", content="x"), Say("Done.")]) as at:
        states: dict[str, str] = {}

        def show(event: Event) -> Reply | None:
            name = getattr(event, "name", "") or type(event).__name__
            states[name] = board(at)[0][2]  # the last of each kind counts
            return None

        at.run("/check set true")
        drive(at.terminal.run_line("Do it."), show)
        assert states.pop("run_command") == "checking"
        assert set(states.values()) == {"working"}
        assert [row[2] for row in board(at)] == ["idle"]


def test_sessions_of_one_second_stand_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    with racing(tmp_path, []) as at:
        store = at.terminal.store
        assert isinstance(store, Sessions)
        begun = [store.create(model="m") for _ in range(8)]
        for session in begun:
            store.keep(session)
            store.claim(session)
        assert [row[1] for row in board(at)] == begun


def test_a_task_is_started_from_the_board_and_stopped_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: ReceivedRequest) -> Step:
        if request.last_user == "Wait.":
            at_work.release()
            return Stall()
        return Say("Done so.")

    def ended() -> str:
        assert told.acquire(timeout=300)
        return str(news.pop())

    def show(what: Phrase) -> bool:
        news.append(what)
        told.release()
        return True

    at_work, told = threading.Semaphore(0), threading.Semaphore(0)
    news: list[Phrase] = []
    with racing(tmp_path, answer) as at:
        for name, value in program_variables(tmp_path, at.server).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", [str(ROOT / "main.py")])
        agents = at.terminal.features.find(Agents)
        assert agents
        at.terminal.show_news = show
        assert not at.terminal.run_concurrently("/agents start Do it.").ok
        agents.begin_task = partial(begin_task, at.terminal, at.root)
        assert at.terminal.run_concurrently("/agents start Do it.").ok
        assert "is done: /resume" in ended()
        assert at.terminal.run_concurrently("/agents start Wait.").ok
        assert at_work.acquire(timeout=300)
        assert [row[2:4] for row in board(at)] == [("working", "Wait.")]
        session = board(at)[0][1]
        assert at.terminal.run_concurrently(f"/agents stop {session}").ok
        assert "did not come to its end: Stopped. /resume" in ended()
        at.terminal.resume(session)
        assert at.terminal.run_concurrently("/agents start Wait.").ok
        assert at_work.acquire(timeout=300)
    assert news == []  # who leaves stops them, and is told nothing more


def test_another_terminal_sees_what_a_session_asks(tmp_path: Path) -> None:
    seen = []

    def look(_: ApprovalAsked) -> Reply:
        with racing(tmp_path, Responder([])) as other:
            agents = other.terminal.features.find(Agents)
            assert agents
            seen.extend(agents.work())
        return Reply(yes=True, text="blue")

    asks = Call("ask_person", question="Which colour?", choices=["red", "blue"])
    with racing(tmp_path, [asks, Say("Blue it is.")]) as at:
        at.run("Paint it.", look)
    assert [(one.kind, one.state, one.doing) for one in seen] == [
        ("session", "asking", "ask_person Which colour?")
    ]


def test_another_process_sees_that_a_session_is_checked(tmp_path: Path) -> None:
    def seen() -> set[tuple[str, str]]:
        assert (agents := at.terminal.features.find(Agents))
        return {(one.state, str(one.doing)) for one in agents.work()}

    writes = [Call("create_file", path="a.txt", content="x"), Say("Done.")]
    with racing(tmp_path, writes) as at:
        wait = "until test -e go; do sleep 0.05; done"
        at.run(f"/check set {wait}")
        with start(tmp_path, at.server, "-p", "Do it.") as process:
            wait_for(lambda: ("checking", wait) in seen())
            process.kill()
        (killed,) = (one.id for one in at.terminal.store.sessions())
        at.terminal.resume(killed)
        assert seen() == {("idle", "")}


def test_a_task_that_was_killed_in_its_reply_is_idle_once_it_is_resumed(tmp_path: Path) -> None:
    with racing(tmp_path, [Call("list_files"), Stall(), Say("On it goes.")]) as at:
        with start(tmp_path, at.server, "-p", "Do it.") as process:
            wait_for(lambda: len(at.server.requests) == 2)
            process.kill()
        (killed,) = (one.id for one in at.terminal.store.sessions())
        at.terminal.resume(killed)
        assert [row[2:4] for row in board(at)] == [("idle", "")]
        at.run("Go on.")
        assert [row[2] for row in board(at)] == ["idle"]


@pytest.mark.parametrize("line", ["!true", "!!true"])
def test_a_command_of_the_persons_own_is_over_when_it_is(tmp_path: Path, line: str) -> None:
    with racing(tmp_path, [Say("Hi.")]) as at:
        at.terminal.runs_shell_escapes = True
        at.run(line)
        assert [row[2] for row in board(at)] == ["idle"]
        at.run("Hi.")
        assert [row[2] for row in board(at)] == ["idle"]
