"""Every screen that asks goes on when another process was quicker: an editor's, and plain lines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from modules.agents.feature import Agents
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from tests.modules.acp.client import RecordingClient, project_in, say, started
from tests.modules.agents.two_processes import both
from tests.own_loop import run_in_own_loop
from tests.racing import racing, start
from tests.simulator import Call, Say, Simulator, Stall
from tests.simulator.server import wait_for
from utils.i18n import UserError

ASKS = Call("ask_person", question="Which colour?", choices=["red", "blue"])


@contextmanager
def board(base: Path) -> Iterator[Agents]:
    """A board on the project `base/project`, without a session."""
    data = DataFolder(base / "data", (base / "project").resolve())
    store = Sessions(data.sessions)
    try:
        yield Agents(store, [], lambda: None, data.sockets)
    finally:
        store.close()


def test_an_editor_asks_no_longer_what_was_answered_on_the_board(tmp_path: Path) -> None:
    project = project_in(tmp_path)

    async def play() -> None:
        client = RecordingClient(choose=lambda *_: "")  # nobody answers in the editor
        async with started(tmp_path, client, url=server.url) as (connection, _):
            session = (await connection.new_session(str(project))).session_id
            prompt = asyncio.create_task(say(connection, session, "Paint it."))
            await client.asked.wait()
            with board(tmp_path) as agents:
                await asyncio.to_thread(answer, agents, session)
            assert (await prompt).stop_reason == "end_turn"
        assert "_Answered on another screen._\n\nBlue it is." in client.text(session)

    def answer(agents: Agents, session: str) -> None:
        agents.agents(f"answer {session}")
        agents.agents(f"answer {session} 2")

    with Simulator([ASKS, Say("Blue it is.")]) as server:
        run_in_own_loop(play())
    assert server.requests[-1].messages[-1]["content"] == "The person answers: blue"


def test_plain_lines_are_asked_for_no_longer_as_well(tmp_path: Path) -> None:
    with both(tmp_path, [ASKS, Say("Blue it is.")], "--plain") as run:
        run.say("Paint it.")
        run.dialogue.wait_for_text("Your answer ›")
        session, _ = run.asked()
        run.told(f"answer {session} 2")
        screen = run.dialogue.see_prompt_after("Blue it is.")
        assert "Answered on another screen." in screen
        assert run.at.server.requests[-1].messages[-1]["content"] == "The person answers: blue"


def test_a_task_of_p_is_stopped_from_the_board(tmp_path: Path) -> None:
    with racing(tmp_path, [Stall()]) as at, start(tmp_path, at.server, "-p", "Wait.") as process:
        wait_for(lambda: len(at.server.requests) == 1)
        agents = at.terminal.features.find(Agents)
        assert agents
        (work,) = agents.work()
        with pytest.raises(UserError, match="asks nothing that can be answered from here"):
            agents.agents(f"answer {work.id}")
        agents.agents(f"stop {work.id}")
        assert process.wait() == 130
