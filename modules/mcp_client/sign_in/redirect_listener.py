"""Listener on loopback for the browser that comes back from a sign-in."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import Self
from urllib.parse import parse_qs, urlsplit

_PATH = "/callback"
_MAX_REQUEST = 16_384  # bytes
_REQUEST_SECONDS = 10.0
_END_SECONDS = 1.0  # in which the page that was asked for is sent
_PAGE = (
    "<!doctype html><meta charset=utf-8><title>Onefold</title>"
    "<p>{said}</p><p>You can close this page. 可以关闭此页面。</p>"
)
_HEADERS = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {size}\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n"
)


class RedirectListener:
    """Listens on a free port of 127.0.0.1 for one request that has the right state.

    Any other is answered with an error and changes nothing: whatever runs here may send one.
    """

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._came: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._host = ""
        self.state = ""
        """What the link says that the browser has to bring back; "" lets nobody in."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_MAX_REQUEST)
        self._host = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._server:
            self._server.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_END_SECONDS)
            for task in self._tasks:
                task.cancel()

    @property
    def address(self) -> str:
        return f"http://{self._host}{_PATH}"

    async def wait(self) -> Mapping[str, str]:
        """Return what the browser brought."""
        return await self._came

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                request = await reader.readuntil(b"\r\n\r\n")
                status, said = self._answer(request.decode("latin-1"))
                body = _PAGE.format(said=said).encode()
                head = _HEADERS.format(status=status, size=len(body)).encode()
                writer.write(head + body)
                await writer.drain()
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            return  # who sends no request gets no answer
        finally:
            writer.close()

    def _answer(self, request: str) -> tuple[str, str]:
        line, *lines = request.split("\r\n")
        method, _, rest = line.partition(" ")
        hosts = [one[5:].strip() for one in lines if one[:5].lower() == "host:"]
        try:
            parts = urlsplit(rest.partition(" ")[0])
            values = parse_qs(parts.query, max_num_fields=20)
        except ValueError:
            return "400 Bad Request", "This is no answer to a sign-in. 这不是登录的回应。"
        if method != "GET" or parts.path != _PATH or hosts != [self._host]:
            return "404 Not Found", "There is nothing here. 这里什么也没有。"
        states = values.get("state", [])
        is_right = len(states) == 1 and secrets.compare_digest(
            states[0].encode(), self.state.encode()
        )
        if not (self.state and is_right) or self._came.done():
            return "400 Bad Request", "No sign-in waits for this. 没有登录在等待它。"
        self._came.set_result({name: found[0] for name, found in values.items()})
        return "200 OK", "Onefold goes on with the sign-in. Onefold 会继续登录。"
