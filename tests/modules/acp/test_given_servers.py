"""MCP servers that an editor gives a session: used there, confined, and gone when not given."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import acp
from acp.schema import EnvVariable, HttpMcpServer, McpServerStdio, SseMcpServer

from tests.modules.acp.client import HANG_SECONDS, RecordingClient, project_in, say, started
from tests.own_loop import run_in_own_loop
from tests.simulator import Call, Say, Simulator

SERVERS = Path(__file__).parents[1] / "mcp_client"
SECRET = "${HOME} $(id)"


def raw_server(project: Path, name: str = "raw") -> McpServerStdio:
    """Return the server of `raw_server.py`, whose variable is to stay as it is."""
    shutil.copyfile(SERVERS / "raw_server.py", project / "raw_server.py")
    env = [EnvVariable(name="GIVEN", value=SECRET)]
    return McpServerStdio(name=name, command="python3", args=["raw_server.py"], env=env)


@contextmanager
def http_server() -> Iterator[str]:
    """Serve the official SDK's server at the address."""
    command = [sys.executable, str(SERVERS / "sdk_server.py"), "http"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
        finally:
            server.kill()


def answers(server: Simulator) -> list[str]:
    """Return what the model was told of its calls."""
    messages = server.requests[-1].messages
    return [str(one["content"]) for one in messages if one["role"] == "tool"]


def test_a_given_program_is_used_in_its_session_alone(tmp_path: Path) -> None:
    look = Call("raw__look", path="$GIVEN")
    outside = tmp_path / "outside.txt"
    outside.write_text("nobody's business")
    script: list[Any] = [
        (look, Call("raw__look", path=str(outside))),
        *(Say("one"), look, Say("two"), look, Say("three")),
    ]
    project = project_in(tmp_path)
    given = raw_server(project)

    async def play() -> None:
        client = RecordingClient()
        async with started(tmp_path, client, url=server.url) as (connection, _):
            session = (await connection.new_session(str(project), mcp_servers=[given])).session_id
            await say(connection, session, "look")
            variable, file = answers(server)
            assert SECRET in variable
            assert "cannot: " in file  # it runs in the sandbox
            names = [one["function"]["name"] for one in server.requests[0].body["tools"]]
            assert "raw__look" in names
            await say(connection, session, "/mcp raw")
            assert "your editor" in client.text(session)
            # One that is opened anew without it has none, and another session never had.
            await connection.resume_session(session, str(project), mcp_servers=[])
            await say(connection, session, "again")
            assert SECRET not in answers(server)[-1]
            other = (await connection.new_session(str(project), mcp_servers=[])).session_id
            await say(connection, other, "look")
            assert SECRET not in answers(server)[-1]

    with Simulator(script) as server:
        run_in_own_loop(play())


def test_a_given_address_is_asked_about_and_reached(tmp_path: Path) -> None:
    script: list[Any] = [Call("far__add", a=1, b=2), Say("Three.")]
    project = project_in(tmp_path)

    async def play() -> None:
        client = RecordingClient()
        async with started(tmp_path, client, url=server.url) as (connection, _):
            given = HttpMcpServer(type="http", name="far", url=url, headers=[])
            session = (await connection.new_session(str(project))).session_id
            await connection.load_session(str(project), session, mcp_servers=[given])
            await say(connection, session, "add")
            [(question, _options)] = client.questions
            assert url in question.content[0].content.text  # type: ignore[index]
            assert "\n3\n" in answers(server)[0]

    with http_server() as url, Simulator(script) as server:
        run_in_own_loop(play())


def test_what_cannot_be_used_is_named_and_ones_own_file_goes_first(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    given = raw_server(project, "mine")
    old = SseMcpServer(type="sse", name="old", url="http://127.0.0.1:1/", headers=[])
    own = {"command": "python3", "args": ["raw_server.py"], "env": {"GIVEN": "own"}}
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mcp.json").write_text(json.dumps({"mcpServers": {"mine": own}}))
    script: list[Any] = [Call("mine__look", path="$GIVEN"), Say("Done.")]

    async def play() -> None:
        client = RecordingClient()
        async with started(tmp_path, client, url=server.url) as (connection, _):
            servers = [given, old]
            session = (await connection.new_session(str(project), mcp_servers=servers)).session_id
            await say(connection, session, "look")
            assert "own" in answers(server)[0]
            assert "MCP server old: MCP no longer has the “sse” transport" in client.text(session)

    with Simulator(script) as server:
        run_in_own_loop(play())


def test_a_server_that_never_begins_can_be_stopped_each_time(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    mute = McpServerStdio(name="mute", command="sleep", args=["600"], env=[])

    async def play() -> None:
        client = RecordingClient()
        async with started(tmp_path, client, url=server.url) as (connection, _):
            session = (await connection.new_session(str(project), mcp_servers=[mute])).session_id
            for number in range(1, 4):
                answering = asyncio.create_task(say(connection, session, "hello"))
                while client.text(session).count("Starting MCP servers: mute") < number:
                    assert not answering.done(), answering.result()
                    await asyncio.sleep(0.01)
                await connection.cancel(session_id=session)
                assert (await answering).stop_reason == "cancelled"
            await connection.resume_session(session, str(project), mcp_servers=[])
            assert (await say(connection, session, "hello")).stop_reason == "end_turn"

    with Simulator([Say("Hello.")]) as server:
        run_in_own_loop(play())


def test_what_can_be_given_is_said_at_the_beginning(tmp_path: Path) -> None:
    async def play() -> None:
        async with started(tmp_path, RecordingClient(), "--offline") as (connection, _):
            said = await asyncio.wait_for(connection.initialize(acp.PROTOCOL_VERSION), HANG_SECONDS)
        capabilities = said.agent_capabilities
        assert capabilities
        assert capabilities.mcp_capabilities
        assert capabilities.mcp_capabilities.http
        assert not capabilities.mcp_capabilities.sse

    run_in_own_loop(play())
