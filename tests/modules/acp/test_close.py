"""Closing a session: one whose turn does not end in time stays open, and goes on."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from acp import RequestError
from acp.agent.connection import AgentSideConnection

from modules.acp import agent as agent_module
from modules.acp.agent import OnefoldAgent
from modules.acp.client_link import ClientLink
from modules.acp.open_sessions import OpenSessions, ProjectAccess, Workplace
from modules.acp.prompts import PromptContent
from modules.files.project import Project
from modules.translator import Translator
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.acp.client import HANG_SECONDS
from tests.own_loop import run_in_own_loop
from tests.scripted_model import text_reply
from utils.logger import FailureLog
from utils.waiting import Stop


class UnheardConnection:
    """Drops what a client is shown."""

    async def session_update(self, session: str, update: Any) -> None: ...


def sessions_of(made: AssembledTerminal, project: Project) -> OpenSessions:
    """Return the sessions of a client that hears nothing, with the terminal of *made*."""
    loop = asyncio.new_event_loop()
    loop.close()  # what is shown is dropped then
    client = ClientLink(cast(AgentSideConnection, UnheardConnection()), loop)
    log = FailureLog(made.data.root / "failures.log")
    sockets = made.data.root / "sockets"
    access = ProjectAccess(project, sockets, made.store, log, lambda: made.terminal, lambda: None)
    workplace = Workplace(Path, lambda _: True, lambda _: access, lambda: None)
    return OpenSessions(workplace, client, Translator("en", {}))


def agent_of(made: AssembledTerminal, project: Project) -> OnefoldAgent:
    sessions = sessions_of(made, project)
    agent = OnefoldAgent(sessions._workplace, sessions._translator, "0")
    agent.sessions = sessions
    return agent


class UnheedingTurn:
    """A turn that does not end when it is stopped, until it is *released*."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()

    def __call__(self, _: Stop) -> None:
        self.begun.set()
        self.released.wait(HANG_SECONDS)


def test_a_session_that_could_not_be_closed_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "_CLOSE_SECONDS", 0.0)
    turn = UnheedingTurn()
    replies = [[turn, *text_reply("late")], text_reply("Fine.")]
    with (
        assembled_terminal(tmp_path, *replies) as made,
        closing(Project(made.root, hidden=[])) as project,
    ):
        agent = agent_of(made, project)
        session = agent.sessions.new(str(made.root))
        first = session.begin(PromptContent("go"))
        assert turn.begun.wait(HANG_SECONDS)
        with pytest.raises(RequestError):
            run_in_own_loop(agent.close_session(session.id))
        turn.released.set()
        assert first.result(HANG_SECONDS).stop_reason == "cancelled"
        assert agent.sessions.open(str(made.root), session.id) is session
        second = session.begin(PromptContent("again"))
        assert second.result(HANG_SECONDS).stop_reason == "end_turn"


@pytest.mark.parametrize("times", [1, 2])
def test_a_close_that_is_taken_back_holds_up_nobody(tmp_path: Path, times: int) -> None:
    turn = UnheedingTurn()

    async def play(agent: OnefoldAgent, folder: str) -> None:
        session = agent.sessions.new(folder)
        session.begin(PromptContent("go"))
        await asyncio.to_thread(turn.begun.wait, HANG_SECONDS)
        ending = asyncio.create_task(agent.close_session(session.id))
        while agent.sessions.closing(session.id) is None:
            await asyncio.sleep(0)
        for _ in range(times):
            ending.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([ending], timeout=HANG_SECONDS)
        reopening = agent.resume_session(session.id, folder)
        await asyncio.wait_for(reopening, HANG_SECONDS)
        assert agent.sessions.find(session.id) is session
        turn.released.set()

    with (
        assembled_terminal(tmp_path, [turn, *text_reply("late")]) as made,
        closing(Project(made.root, hidden=[])) as project,
    ):
        run_in_own_loop(play(agent_of(made, project), str(made.root)))


def test_a_session_that_ends_late_holds_up_only_who_wants_it(tmp_path: Path) -> None:
    turn = UnheedingTurn()

    async def play(agent: OnefoldAgent, folder: str) -> None:
        session = agent.sessions.new(folder)
        session.begin(PromptContent("go"))
        await asyncio.to_thread(turn.begun.wait, HANG_SECONDS)
        ending = asyncio.create_task(agent.close_session(session.id))
        await asyncio.sleep(0)
        reopening = [
            asyncio.create_task(agent.resume_session(session.id, folder)) for _ in range(40)
        ]
        await asyncio.wait_for(agent.list_sessions(folder), HANG_SECONDS)
        assert not ending.done()
        turn.released.set()
        await asyncio.wait_for(ending, HANG_SECONDS)
        for task in reopening:  # and is open again, behind its end
            await asyncio.wait_for(task, HANG_SECONDS)
        assert agent.sessions.find(session.id) is not session

    with (
        assembled_terminal(tmp_path, [turn, *text_reply("late")]) as made,
        closing(Project(made.root, hidden=[])) as project,
    ):
        run_in_own_loop(play(agent_of(made, project), str(made.root)))
