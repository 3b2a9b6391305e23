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

from modules.acp import open_sessions
from modules.acp.client_link import ClientLink
from modules.acp.open_sessions import OpenSessions, ProjectAccess, Workplace
from modules.acp.prompts import PromptContent
from modules.files.project import Project
from modules.translator import Translator
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.acp.client import HANG_SECONDS
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
    access = ProjectAccess(project, made.store, log, lambda: made.terminal, lambda: None)
    workplace = Workplace(Path, lambda _: True, lambda _: access, lambda: None)
    return OpenSessions(workplace, client, Translator("en", {}))


def test_a_session_that_could_not_be_closed_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_sessions, "_CLOSE_SECONDS", 0.0)
    begun, released = threading.Event(), threading.Event()

    def ignore_the_stop(_: Stop) -> None:
        begun.set()
        released.wait(HANG_SECONDS)

    replies = [[ignore_the_stop, *text_reply("late")], text_reply("Fine.")]
    with (
        assembled_terminal(tmp_path, *replies) as made,
        closing(Project(made.root, hidden=[])) as project,
    ):
        sessions = sessions_of(made, project)
        session = sessions.new(str(made.root))
        first = session.begin(PromptContent("go"))
        assert begun.wait(HANG_SECONDS)
        with pytest.raises(RequestError):
            sessions.close(session.id)
        released.set()
        assert first.result(HANG_SECONDS).stop_reason == "cancelled"
        assert sessions.open(str(made.root), session.id) is session
        second = session.begin(PromptContent("again"))
        assert second.result(HANG_SECONDS).stop_reason == "end_turn"
