"""What a client is asked and nobody waits for any more: its answer hurts nothing."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any, cast

from acp import RequestError
from acp.agent.connection import AgentSideConnection
from acp.schema import ClientCapabilities, FileSystemCapabilities, ReadTextFileResponse

from modules.acp.client_link import ClientLink
from tests.modules.acp.client import HANG_SECONDS
from utils.waiting import Stop


class RefusingConnection:
    """Refuses a file at the moment when the turn that wants it was stopped and went on."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self.went_on = threading.Event()

    async def read_text_file(self, _: str, path: str) -> ReadTextFileResponse:
        self.stop.set()
        assert self.went_on.wait(HANG_SECONDS)
        raise RequestError.resource_not_found(path)


def test_an_error_that_nobody_waits_for_is_printed_nowhere() -> None:
    stop, loop = Stop(), asyncio.new_event_loop()
    told: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: told.append(context))
    connection = RefusingConnection(stop)
    link = ClientLink(cast(AgentSideConnection, connection), loop)
    link.capabilities = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        assert link.editor_text("s1", "/p/a.txt", stop) is None
        connection.went_on.set()
        left = asyncio.run_coroutine_threadsafe(others_ended(), loop)
        left.result(HANG_SECONDS)
        gc.collect()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    assert told == []


async def others_ended() -> None:
    """Wait until no other task runs."""
    if others := asyncio.all_tasks() - {cast(Any, asyncio.current_task())}:
        await asyncio.wait(others)
