"""Lines of JSON as the streams that the SDK's server reads and writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from modules.stdio_server.json_lines import JsonLines

Incoming = anyio.abc.ObjectReceiveStream[SessionMessage | Exception]
Outgoing = anyio.abc.ObjectSendStream[SessionMessage]


@asynccontextmanager
async def message_streams(lines: JsonLines) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Yield the streams of the messages on *lines*."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with to_server:
            while (message := await lines.receive()) is not None:
                try:
                    parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
                except ValidationError:
                    lines.refuse(message, "this is no message of the protocol")
                    continue
                await to_server.send(SessionMessage(parsed))
            await lines.wait_for_answers()

    async def write() -> None:
        async with from_server:
            async for one in from_server:
                message = one.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                with suppress(ConnectionError):  # reading then comes to its end as well
                    await lines.send(message)

    pumps = [asyncio.create_task(read()), asyncio.create_task(write())]
    try:
        yield incoming, outgoing
        await pumps[1]  # the last answers leave
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
