"""The calls of a client in random orders: each has one answer, and no history is ever broken."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from acp import RequestError, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import (
    ClientCapabilities,
    FileSystemCapabilities,
    PermissionOption,
    PromptResponse,
)

from tests.campaign import FIRST, seeded
from tests.modules.acp.client import (
    HANG_SECONDS,
    RecordingClient,
    ShownTerminal,
    make_terminal,
    project_in,
    save_as_given,
    started,
)
from tests.own_loop import run_in_own_loop
from tests.simulator import Call, Pause, Say, Simulator, Step
from tests.simulator.server import ReceivedRequest

ORDERS = 25 if FIRST else 10
"""Orders of one seed: a campaign of twenty times two seeds plays a thousand."""
LENGTH = 12
"""Calls of one order."""
EXPECTED_ERRORS = {-32600, -32601, -32602, -32002}
ALL = ClientCapabilities(
    fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
)
KINDS = ("talk", "slow", "write", "delete", "run")


def model(request: ReceivedRequest) -> Step:
    """Do what the last message says: its first word is the kind."""
    if request.messages[-1]["role"] == "tool":
        return Say("Done.")
    kind = request.last_user.split()[0]
    steps: dict[str, Step] = {
        "slow": (Say("I "), Pause(0.2), Say("think.")),
        "write": Call(
            "create_file", path="made.txt", content=f"{request.last_user}\n", overwrite=True
        ),
        "delete": (Call("delete_file", path="made.txt"), Call("delete_file", path="a.txt")),
        "run": Call("run_command", command="echo run; sleep 0.1"),
    }
    return steps.get(kind, Say("Hello."))


@dataclass
class Order:
    """Plays random calls on *connection* and remembers what each session was told."""

    random: Random
    connection: ClientSideConnection
    client: RecordingClient
    project: Path
    said: dict[str, list[str]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    errors: Counter[int] = field(default_factory=Counter)
    count: int = 0

    @property
    def folder(self) -> str:
        return str(self.project)

    def session(self) -> str:
        """Return one that there is, or now and then one that there is not."""
        known = [*self.said, "no-such-session"]
        return self.random.choice(known[:-1] * 6 + known[-1:])

    async def new(self) -> None:
        session = (await self.connection.new_session(self.folder)).session_id
        self.said[session] = []

    async def prompt(self) -> None:
        session = self.session()
        self.count += 1
        text = f"{self.random.choice(KINDS)} {self.count}"
        response = await self.connection.prompt(session_id=session, prompt=[text_block(text)])
        assert isinstance(response, PromptResponse)
        self.said[session].append(text)

    async def write(self) -> None:
        """Have one session write while nothing else runs, which has to reach the editor."""
        session = (await self.connection.new_session(self.folder)).session_id
        await self.connection.prompt(session_id=session, prompt=[text_block("write 0")])
        self.said[session] = ["write 0"]
        assert self.client.writes == [(str(self.project / "made.txt"), "write 0\n")]

    async def cancel(self) -> None:
        await self.connection.cancel(session_id=self.session())

    async def load(self) -> None:
        session = self.session()
        await self.connection.load_session(cwd=self.folder, session_id=session)
        self.closed.discard(session)

    async def resume(self) -> None:
        session = self.session()
        await self.connection.resume_session(cwd=self.folder, session_id=session)
        self.closed.discard(session)

    async def fork(self) -> None:
        session = self.session()
        fork = await self.connection.fork_session(cwd=self.folder, session_id=session)
        self.client.updates.pop(fork.session_id, None)
        await self.connection.load_session(cwd=self.folder, session_id=fork.session_id)
        self.said[fork.session_id] = self.replayed(fork.session_id)

    async def close(self) -> None:
        await self.connection.close_session(session_id=self.session())

    async def list_sessions(self) -> None:
        await self.connection.list_sessions(cwd=self.random.choice([self.folder, None]))

    async def set_mode(self) -> None:
        mode = self.random.choice(["guarded", "ask", "read-only", "all", "nonsense"])
        await self.connection.set_session_mode(session_id=self.session(), mode_id=mode)

    async def set_option(self) -> None:
        await self.connection.set_config_option(
            config_id="thought_level", session_id=self.session(), value="think"
        )

    async def nonsense(self) -> None:
        method, params = self.random.choice(
            [
                ("session/prompt", {"sessionId": 5, "prompt": "x"}),
                ("session/prompt", {"sessionId": self.session(), "prompt": []}),
                ("session/new", {"cwd": "relative", "mcpServers": []}),
                ("session/new", {"cwd": "/no/such/folder", "mcpServers": []}),
                ("session/load", {"sessionId": self.session(), "cwd": "/", "mcpServers": []}),
                ("session/list", {"cursor": "x"}),
                ("session/what", {}),
                ("authenticate", {"methodId": "magic"}),
            ]
        )
        await self.connection._conn.send_request(method, params)

    def replayed(self, session: str) -> list[str]:
        return [one.content.text for one in self.client.of_kind(session, "user_message_chunk")]

    async def counted(self, call: Callable[[], Awaitable[None]]) -> None:
        try:
            await call()
        except RequestError as error:
            if error.code not in EXPECTED_ERRORS:
                raise
            self.errors[error.code] += 1

    async def play(self) -> None:
        """Begin the calls one after the other, some before those ahead of them are answered."""
        await self.new()
        calls = [self.prompt] * 6 + [self.cancel] * 3 + [self.load, self.resume, self.fork] * 2
        calls += [self.new, self.close, self.list_sessions, self.nonsense]
        calls += [self.set_mode, self.set_option]
        running: list[asyncio.Task[None]] = []
        for _ in range(LENGTH):
            running.append(asyncio.create_task(self.counted(self.random.choice(calls))))
            match self.random.randrange(3):
                case 0:
                    await asyncio.wait_for(asyncio.shield(running[-1]), HANG_SECONDS)
                case 1:
                    await asyncio.sleep(self.random.random() / 20)
        await asyncio.wait_for(asyncio.gather(*running), HANG_SECONDS)

    async def check(self) -> None:
        """Hold what every session says of itself against what was said in it."""
        for session, said in self.said.items():
            self.client.updates.pop(session, None)
            await self.connection.load_session(cwd=self.folder, session_id=session)
            assert self.replayed(session) == said
            begun = {one.tool_call_id for one in self.client.of_kind(session, "tool_call")}
            ended = {
                one.tool_call_id
                for one in self.client.of_kind(session, "tool_call_update")
                if one.status in ("completed", "failed")
            }
            assert begun == ended
            await self.connection.close_session(session_id=session)


def choose_at_random(random: Random) -> Callable[[RecordingClient, list[PermissionOption]], str]:
    def choose(_: RecordingClient, options: list[PermissionOption]) -> str:
        return random.choice([*(option.option_id for option in options), "nonsense", ""])

    return choose


def save_at_random(random: Random) -> Callable[[str, str], Awaitable[str]]:
    """Save as an editor may: slowly, otherwise, or not at all."""

    async def save(path: str, content: str) -> str:
        match random.randrange(5):
            case 0:
                raise RequestError.internal_error()
            case 1:
                await asyncio.sleep(random.random() / 10)
            case 2:
                content = content.upper()
        return await save_as_given(path, content)

    return save


def make_at_random(random: Random) -> Callable[[ShownTerminal, list[str]], Awaitable[None]]:
    """Make a terminal as a client may: late, closed at once, or not at all."""

    async def make(shown: ShownTerminal, command: list[str]) -> None:
        match random.randrange(6):
            case 0:
                shown.is_released = True  # there is none
                raise RequestError.internal_error()
            case 1:
                await asyncio.sleep(random.random())
        await make_terminal(shown, command)
        if random.randrange(4) == 0 and shown.program and shown.program.returncode is None:
            shown.program.kill()

    return make


async def until_released(client: RecordingClient) -> None:
    while not all(terminal.is_released for terminal in client.terminals.values()):
        await asyncio.sleep(0.01)


@seeded(2)
def test_random_orders(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    project = project_in(tmp_path)
    errors: Counter[int] = Counter()

    async def play() -> None:
        client = RecordingClient(
            choose_at_random(random), save_at_random(random), make_terminal=make_at_random(random)
        )
        client.cancelled.set()  # a question that is left open is cancelled at once
        async with started(tmp_path, client, url=server.url, capabilities=ALL) as (connection, _):
            order = Order(random, connection, client, project)
            await order.write()
            await order.check()
            for _number in range(ORDERS):
                order = Order(random, connection, client, project)
                await order.play()
                await order.check()
                errors.update(order.errors)
            await asyncio.wait_for(until_released(client), HANG_SECONDS)

    with Simulator(model) as server:
        run_in_own_loop(play())
    assert errors[-32600]  # prompts met prompts
    assert errors[-32002]  # and sessions that there are not
