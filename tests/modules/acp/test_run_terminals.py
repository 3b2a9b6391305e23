"""Runs in terminals of a client: what these show, what closing one does, and clients that fail."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.schema import ClientCapabilities

from modules.acp.terminals.live_text import LiveText
from tests.modules.acp.client import (
    HANG_SECONDS,
    RecordingClient,
    ShownTerminal,
    make_terminal,
    project_in,
    say,
    started,
)
from tests.own_loop import run_in_own_loop
from tests.simulator import Call, Say, Simulator

TERMINALS = ClientCapabilities(terminal=True)
NOISY = (
    "until [ -e seen ]; do sleep 0.05; done; "
    "printf '\\033[31mred\\033[0m \\033]0;title\\007\\n10%%\\r20%%\\n'; exit 3"
)


async def until_released(client: RecordingClient) -> None:
    while not all(terminal.is_released for terminal in client.terminals.values()):
        await asyncio.sleep(0.01)


@dataclass
class SeeingClient(RecordingClient):
    """Makes the file *seen* when a call is shown in a terminal."""

    seen: Path = Path()

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        await super().session_update(session_id, update, **more)
        content = getattr(update, "content", None)
        if isinstance(content, list) and content and content[0].type == "terminal":
            self.seen.touch()


def play(base: Path, client: RecordingClient, *commands: str) -> tuple[list[Any], list[str]]:
    """Have each of *commands* run; return what *client* was shown of the calls, and the results."""
    script: list[Any] = [
        *(Call("run_command", command=command) for command in commands),
        Say("Done."),
    ]
    updates: list[Any] = []

    async def played(url: str) -> None:
        async with started(base, client, url=url, capabilities=TERMINALS) as (connection, _):
            session = (await connection.new_session(str(base / "project"))).session_id
            answer = await say(connection, session, "Run")
            assert answer.stop_reason == "end_turn"
            await asyncio.wait_for(until_released(client), HANG_SECONDS)
            updates.extend(client.of_kind(session, "tool_call_update"))

    with Simulator(script) as server:
        run_in_own_loop(played(server.url))
        messages = server.requests[-1].body["messages"]
    assert not list(base.glob("data/projects/*/sockets/*"))
    return updates, [one["content"] for one in messages if one["role"] == "tool"]


def test_a_run_is_shown_in_a_terminal_of_the_clients(tmp_path: Path) -> None:
    client = SeeingClient(seen=project_in(tmp_path) / "seen")
    updates, [result] = play(tmp_path, client, NOISY)
    [terminal] = client.terminals.values()
    assert terminal.is_released
    assert terminal.exit_code == 3
    assert terminal.output.startswith("red \n")
    assert terminal.output.endswith("20%\n")
    assert "\x1b[3" not in terminal.output
    assert "title" not in terminal.output
    last = updates[-1]
    shown, ending = last.content
    assert (shown.type, shown.terminal_id) == ("terminal", "terminal 0")
    assert "exit" in ending.content.text
    assert "20%" not in ending.content.text
    assert last.raw_output["exit_code"] == 3
    assert "20%" in last.raw_output["output"]
    assert result.startswith("exit code 3")


def test_who_closes_the_terminal_stops_the_run_and_nothing_else(tmp_path: Path) -> None:
    project_in(tmp_path)

    async def make_and_kill(shown: ShownTerminal, command: list[str]) -> None:
        await make_terminal(shown, command)
        assert shown.program
        assert shown.program.stdout
        first = await shown.program.stdout.readline()
        if first == b"begun\n":
            shown.program.kill()

    async def make(shown: ShownTerminal, command: list[str]) -> None:
        closing.append(asyncio.create_task(make_and_kill(shown, command)))

    closing: list[asyncio.Task[None]] = []
    client = RecordingClient(make_terminal=make)
    updates, [first, second] = play(tmp_path, client, "echo begun; sleep 600", "echo after")
    assert first.startswith("Stopped by the person")
    assert "begun" in first
    assert second.startswith("exit code 0")
    states = [one.status for one in updates if one.status in ("completed", "failed")]
    assert states == ["failed", "completed"]
    assert all(terminal.is_released for terminal in client.terminals.values())


async def refuse(shown: ShownTerminal, command: list[str]) -> None:
    shown.is_released = True  # there is none
    raise RequestError.internal_error()


async def never_answer(shown: ShownTerminal, command: list[str]) -> None:
    shown.is_released = True  # there is none
    await asyncio.Event().wait()


async def run_nothing(shown: ShownTerminal, command: list[str]) -> None:
    """Make a terminal in which the command does not run."""


async def run_late(shown: ShownTerminal, command: list[str]) -> None:
    await asyncio.sleep(3)
    await make_terminal(shown, command)


@pytest.mark.parametrize("making", [refuse, never_answer, run_nothing, run_late])
def test_a_client_whose_terminals_fail_is_shown_the_run_as_text(
    tmp_path: Path, making: Any
) -> None:
    project_in(tmp_path)
    client = RecordingClient(make_terminal=making)
    commands = ["echo one", "echo two", *(["sleep 4"] if making is run_late else [])]
    updates, results = play(tmp_path, client, *commands)
    assert all(result.startswith("exit code 0") for result in results)
    ends = {one.tool_call_id: one for one in updates if one.content}
    texts = [end.content[0].content.text for end in ends.values()]
    assert "one" in texts[0]
    assert "two" in texts[1]
    assert all(terminal.is_released for terminal in client.terminals.values())
    if making is not run_nothing:
        assert len(client.terminals) == 1  # it is asked for no more


def test_a_line_that_is_written_over_is_drawn_anew() -> None:
    text = LiveText()
    parts = ["a\x1b[", "31mb", "\r1", "0%\r20%", "\n\x1b]0;x", "\x07c"]
    assert [text.add(part) for part in parts] == ["a", "b", "\r\x1b[K1", "\r\x1b[K20%", "\n", "c"]
