"""What a server runs is answered and stopped from another process, in both of its modes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from modules.agents.feature import Agents
from tests.killed_server import HttpClient
from tests.racing import racing, start
from tests.simulator import Call, Say, Stall
from tests.simulator.server import wait_for

ASKS = Call("ask_person", question="Which colour?", choices=["red", "blue"])


@pytest.mark.parametrize("mode", ["threading", "eventlet"])
def test_a_session_of_a_server_is_answered_and_stopped(tmp_path: Path, mode: str) -> None:
    words = ("--web", "--port", "0", "--async-mode", mode)
    with (
        racing(tmp_path, [ASKS, Stall(), Say("unused")]) as at,
        start(tmp_path, at.server, *words) as process,
    ):
        try:
            assert process.stdout
            found = next(filter(None, (re.search(r":(\d+)/login", s) for s in process.stdout)))
            client = HttpClient(json.loads((at.data / f"server-{found[1]}.json").read_bytes()))
            session = client.ask("POST", "/api/sessions")["id"]
            client.do(session, "send", text="Paint it.", cmd="1")
            agents = at.terminal.features.find(Agents)
            assert agents
            wait_for(lambda: [work.state for work in agents.work()] == ["asking"])
            wait_for(lambda: at.terminal.run_concurrently(f"/agents answer {session}").ok)
            assert at.terminal.run_concurrently(f"/agents answer {session} 2").ok
            wait_for(lambda: len(at.server.requests) == 2)
            assert at.server.requests[-1].messages[-1]["content"] == "The person answers: blue"

            client.do(session, "send", text="And then?", cmd="2")
            assert at.terminal.run_concurrently(f"/agents stop {session}").ok
            wait_for(lambda: [work.state for work in agents.work()] == ["idle"])
            address = f"/api/sessions/{session}"
            wait_for(lambda: client.ask("GET", address)["state"]["paused"])  # it waits, as ever
            queue = client.ask("GET", address)["state"]["queue"]
            assert [one["text"] for one in queue] == ["And then?"]
            assert len(at.server.requests) == 2
        finally:
            process.terminate()
