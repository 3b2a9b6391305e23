"""`mcp`: one client on standard input and output, until it goes away."""

from __future__ import annotations

import asyncio

from modules.mcp_server.handlers import Handlers
from modules.mcp_server.session import McpSession, Workplace
from modules.mcp_server.transport import message_streams
from modules.stdio_server.json_lines import JsonLines
from modules.stdio_server.serving import serve_client
from modules.translator import Translator


def serve(workplace: Workplace, translator: Translator, version: str) -> int:
    """Serve the client until it closes its end or a signal comes; return the exit code.

    What runs then is stopped, and the session is whole on disk.
    """
    session = McpSession(workplace, translator)
    server = Handlers(session, translator).server(workplace.project, version)

    async def answer_requests(lines: JsonLines) -> None:
        async with message_streams(lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    async def converse(source: int, sink: int, is_to_end: asyncio.Event) -> None:
        lines = JsonLines(source, sink)
        serving = asyncio.create_task(answer_requests(lines))
        signalled = asyncio.create_task(is_to_end.wait())
        await asyncio.wait([serving, signalled], return_when=asyncio.FIRST_COMPLETED)
        session.leave()
        signalled.cancel()
        serving.cancel()
        [problem] = await asyncio.gather(serving, return_exceptions=True)
        await lines.close()
        if isinstance(problem, Exception):
            raise problem

    try:
        return serve_client(converse)
    finally:
        session.close()
