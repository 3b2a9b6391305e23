"""A session that another version of Onefold runs is told of as one that cannot be reached."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from modules.agents.holder_link import HolderLink
from modules.agents.session_socket import SessionSocket
from tests.assembly import assembled_terminal
from tests.scripted_model import run_turn, text_reply
from utils.i18n import UserError

ASKED = {"call_id": "c", "name": "n", "risk": "read", "why": "why", "pattern": ""}


@pytest.mark.parametrize(
    "event", [{**ASKED, "preview": {"kind": "of tomorrow"}}, {"call_id": "c"}, "of yesterday"]
)
def test_a_question_that_cannot_be_shown_here_is_answered_where_it_is(
    tmp_path: Path, event: Any
) -> None:
    with assembled_terminal(tmp_path, text_reply("Hi.")) as env:
        run_turn(env.terminal, "hi")
        session = env.terminal.session
        told = {"asked": {"key": "k", "event": event, "arguments": {}}}
        folder = tmp_path / "sockets"
        away = f"{session} cannot be reached from here; do it where it works "
        with closing(SessionSocket(folder, session, lambda _: told)):
            with pytest.raises(UserError) as raised:
                HolderLink(env.store, folder).question(session)
            assert str(raised.value) == f"{away}(process {os.getpid()})."
