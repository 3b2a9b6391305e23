"""A client of the SDK's own that records what it is shown, and `acp` as a program behind it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from acp import RequestError, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.interfaces import Agent, Client
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    CreateTerminalResponse,
    DeniedOutcome,
    PermissionOption,
    PromptResponse,
    ReadTextFileResponse,
    RequestPermissionResponse,
    ToolCallUpdate,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)

ROOT = Path(__file__).parents[3]
CANCELLED = RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
HANG_SECONDS = 60.0
"""A guard against hanging, no measure of anything."""

Choose = Callable[["RecordingClient", list[PermissionOption]], str]


def first_option(_: RecordingClient, options: list[PermissionOption]) -> str:
    return options[0].option_id


async def save_as_given(path: str, content: str) -> str:
    Path(path).write_bytes(content.encode())
    return content


@dataclass
class ShownTerminal:
    """A terminal of a client; *output* and *exit_code* are those of its program, at its end."""

    program: asyncio.subprocess.Process | None = None
    output: str = ""
    exit_code: int | None = None
    is_released: bool = False

    async def release(self) -> None:
        self.is_released = True
        if self.program:
            if self.program.returncode is None:
                self.program.kill()
            output, _ = await self.program.communicate()
            self.output, self.exit_code = output.decode(), self.program.returncode


async def make_terminal(shown: ShownTerminal, command: list[str]) -> None:
    shown.program = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)


@dataclass
class RecordingClient:
    """Keeps the updates of each session; *choose* answers questions, "" leaves them open.

    *save* writes what a buffer is to hold to the disk, and returns what it holds then;
    *make_terminal* has a terminal run a command.
    """

    choose: Choose = first_option
    save: Callable[[str, str], Awaitable[str]] = save_as_given
    writes: list[tuple[str, str]] = field(default_factory=list)
    make_terminal: Callable[[ShownTerminal, list[str]], Awaitable[None]] = make_terminal
    terminals: dict[str, ShownTerminal] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)
    updates: dict[str, list[Any]] = field(default_factory=dict)
    questions: list[tuple[ToolCallUpdate, list[PermissionOption]]] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.setdefault(session_id, []).append(update)

    async def request_permission(
        self,
        session_id: str,
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        **_: Any,
    ) -> RequestPermissionResponse:
        self.questions.append((tool_call, options))
        self.asked.set()
        chosen = self.choose(self, options)
        if not chosen:  # what the protocol wants of a client that cancels
            await self.cancelled.wait()
            return CANCELLED
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=chosen)
        )

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        if path not in self.buffers:
            raise RequestError.resource_not_found(path)
        return ReadTextFileResponse(content=self.buffers[path])

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> WriteTextFileResponse:
        self.writes.append((path, content))
        self.buffers[path] = await self.save(path, content)
        return WriteTextFileResponse()

    async def create_terminal(
        self, command: str, session_id: str, args: list[str] | None = None, **_: Any
    ) -> CreateTerminalResponse:
        terminal = f"terminal {len(self.terminals)}"
        self.terminals[terminal] = shown = ShownTerminal()
        await self.make_terminal(shown, [command, *(args or [])])
        return CreateTerminalResponse(terminal_id=terminal)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> WaitForTerminalExitResponse:
        if program := self.terminals[terminal_id].program:
            await program.wait()
        return WaitForTerminalExitResponse()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        await self.terminals[terminal_id].release()

    def on_connect(self, conn: Agent) -> None:
        pass

    # --- what was shown --------------------------------------------------------------------------

    def kinds(self, session: str) -> list[str]:
        return [update.session_update for update in self.updates.get(session, [])]

    def of_kind(self, session: str, kind: str) -> list[Any]:
        return [one for one in self.updates.get(session, []) if one.session_update == kind]

    def text(self, session: str, kind: str = "agent_message_chunk") -> str:
        return "".join(
            one.content.text for one in self.of_kind(session, kind) if one.content.type == "text"
        )


@asynccontextmanager
async def started(
    base: Path,
    client: RecordingClient,
    *options: str,
    url: str = "",
    capabilities: ClientCapabilities | None = None,
) -> AsyncIterator[tuple[ClientSideConnection, asyncio.subprocess.Process]]:
    """Run `acp` with its data in *base*, and initialize it; at the end it must leave in order."""
    environment = {**os.environ, "ONEFOLD_DATA_DIR": str(base / "data")}
    if url:
        environment |= {"DEEPSEEK_BASE_URL": url, "DEEPSEEK_API_KEY": "sk-test"}
    async with spawn_agent_process(
        cast(Client, client),
        sys.executable,
        str(ROOT / "main.py"),
        "acp",
        *options,
        env=environment,
        cwd=base,
        transport_kwargs={"stderr": None, "shutdown_timeout": HANG_SECONDS},
        use_unstable_protocol=True,
    ) as (connection, process):
        await connection.initialize(1, capabilities)
        yield connection, process
    assert process.returncode == 0


async def say(connection: ClientSideConnection, session: str, text: str) -> PromptResponse:
    return await asyncio.wait_for(
        connection.prompt(session_id=session, prompt=[text_block(text)]), HANG_SECONDS
    )


def project_in(base: Path) -> Path:
    folder = base / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder
