"""Bodies of answers by HTTP, bounded."""

from __future__ import annotations

from typing import Any

import httpx2

from modules.mcp_client.bounds import MAX_CALL_BYTES, weight

_LINE_BYTES = 200  # that a line of an answer counts for: a message has three


async def bound_body(response: httpx2.Response) -> None:
    """Let the body of *response* end with an error where it is longer than an answer may be."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> Any:
        size = 0
        async for chunk in self._stream:
            size += weight(chunk, _LINE_BYTES)
            if size > MAX_CALL_BYTES:
                raise httpx2.ReadError("the answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
