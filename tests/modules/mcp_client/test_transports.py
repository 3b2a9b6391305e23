"""The streams of a server's program where it ends just as something is said to it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage

from modules.mcp_client.config import ServerConfig
from modules.mcp_client.connection.connection import Connection
from modules.mcp_client.connection.program import ServerProgram
from modules.mcp_client.connection.transports import ProgramTransport
from modules.sandbox.types import Result
from utils.waiting import Stop


class EndingRun:
    """The run of a program that has closed its input: what it ends with is not known yet."""

    inner_pid = 1

    def __init__(self) -> None:
        self.was_written_to = threading.Event()

    def write_input(self, _: bytes) -> int:
        self.was_written_to.set()
        raise BrokenPipeError

    def start(self, background: Any, stop: Stop) -> Generator[str, None, Result]:
        background.on_start(self)
        self.was_written_to.wait()
        for _ in range(20):  # it is not reaped at once
            yield ""
            if stop.wait(0.01):
                return Result(None, "stopped", "", "", 0, 0.0)
        return Result(127, "exited", "", "", 0, 0.0)


def test_a_program_that_reads_no_more_is_not_killed_before_it_ends_by_itself() -> None:
    run = EndingRun()

    async def say() -> ServerProgram:
        transport = ProgramTransport(run.start, asyncio.Event())
        async with transport as (read, written), read, written:
            await written.send(SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method="x")))
            await asyncio.to_thread(transport.program.wait, 60)
        return transport.program

    with ThreadPoolExecutor(1) as pool:  # in this thread a browser's loop may be running
        program = pool.submit(asyncio.run, say()).result()
    assert program.exit_code == 127
    assert str(program.failure) == "it ended with code 127"


def test_a_failure_has_no_full_stop_of_its_own() -> None:
    config = ServerConfig("far", is_own=True, url="http://localhost:1/mcp")
    connection = Connection(config, lambda *_: iter(()), "", lambda _: None, None)  # type: ignore[arg-type]
    connection._fail(RuntimeError("The session is gone."))
    assert str(connection.failure) == "The session is gone"
