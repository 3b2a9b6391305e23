"""Transports of MCP: the streams of a program, and those of a server behind an address.

They run in the event loop of `ClientThread`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from modules.mcp_client.bounded_stream import bound_body
from modules.mcp_client.config import ServerConfig
from modules.mcp_client.connection.program import ServerProgram, StartProgram
from modules.mcp_client.sign_in.oauth import TokenAuth
from modules.mcp_client.sign_in.tokens import TokenFile
from utils.i18n import Phrase, phrase

Streams = tuple[Any, Any]
_WRITE_SECONDS = 30.0  # that a program may leave its input unread
_WRITE_INTERVAL = 0.02
_END_SECONDS = 5.0


class ProgramTransport:
    """The streams of a program, as the SDK wants them; *closing* is set when it has ended."""

    def __init__(self, start: StartProgram, closing: asyncio.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = closing
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.program = ServerProgram(start, self._on_line)
        self._tasks: list[asyncio.Task[None]] = []

    def _on_line(self, line: bytes | None) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    async def __aenter__(self) -> Streams:
        read_send, read_receive = anyio.create_memory_object_stream[Any](0)
        write_send, write_receive = anyio.create_memory_object_stream[SessionMessage](0)
        self.program.start()
        self._tasks = [
            asyncio.create_task(self._read(read_send)),
            asyncio.create_task(self._write(write_receive)),
        ]
        return read_receive, write_send

    async def __aexit__(self, *_: object) -> None:
        self.program.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        await asyncio.to_thread(self.program.wait, _END_SECONDS)

    async def _read(self, stream: Any) -> None:
        async with stream:
            while (line := await self._lines.get()) is not None:
                if (message := _message(line)) is not None:
                    try:
                        await stream.send(message)
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                        break
        self._closing.set()

    async def _write(self, stream: Any) -> None:
        async with stream:
            async for item in stream:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await self._write_all(text.encode() + b"\n")
                except BrokenPipeError:  # it is about to end, and how it ends says why
                    await asyncio.to_thread(self.program.wait, _END_SECONDS)
                    self.program.stop()
                    return
                except TimeoutError:
                    self.program.stop()
                    return

    async def _write_all(self, data: bytes) -> None:
        deadline = time.monotonic() + _WRITE_SECONDS
        while data := data[self.program.write(data) :]:
            if time.monotonic() > deadline:
                raise TimeoutError
            await asyncio.sleep(_WRITE_INTERVAL)


def _message(line: bytes) -> SessionMessage | None:
    """Return the message that *line* is; None for what many programs print beside."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None


class HttpTransport:
    """The streams of a server behind an address, whose answers are bounded.

    *on_refused* is told why an answer is of no use: the SDK says only that there was none.
    """

    def __init__(
        self,
        config: ServerConfig,
        tokens: TokenFile | None,
        on_status: Callable[[int], None],
        on_refused: Callable[[Phrase], None],
    ) -> None:
        self._on_status = on_status
        self._on_refused = on_refused
        self._client = httpx2.AsyncClient(
            headers={**config.headers, "Accept-Encoding": "identity"},
            auth=TokenAuth(config.url, tokens) if tokens and tokens.exists else None,
            timeout=httpx2.Timeout(30.0, read=float(config.seconds)),
            event_hooks={"response": [self._on_response, bound_body]},
        )
        self._streams = streamable_http_client(config.url, http_client=self._client)

    async def __aenter__(self) -> Streams:
        await self._client.__aenter__()
        return await self._streams.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        try:
            await self._streams.__aexit__(*error)
        finally:
            await self._client.__aexit__(*error)

    async def _on_response(self, response: httpx2.Response) -> None:
        kind = response.request.headers.get("Content-Type", "")
        if "form" not in kind:  # as the requests have that renew tokens
            self._on_status(response.status_code)
        if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            self._on_refused(phrase("its answer is compressed, which nobody asked for"))
            raise httpx2.ReadError("compressed")
