"""`acp`: one client on standard input and output, until it goes away."""

from __future__ import annotations

import asyncio
from typing import cast

from acp.agent.connection import AgentSideConnection
from acp.interfaces import Agent

from modules.acp.agent import OnefoldAgent
from modules.acp.open_sessions import Workplace
from modules.acp.transport import LineTransport
from modules.stdio_server.serving import serve_client
from modules.translator import Translator


def serve(workplace: Workplace, translator: Translator, version: str) -> int:
    """Serve the client until it closes its end or a signal comes; return the exit code.

    What runs then is stopped, every session is whole on disk, and an open question stays one.
    """
    agent = OnefoldAgent(workplace, translator, version)

    async def converse(source: int, sink: int, is_to_end: asyncio.Event) -> None:
        transport = LineTransport(source, sink, agent.on_sent)
        connection = AgentSideConnection(
            cast(Agent, agent), transport, listening=False, use_unstable_protocol=True
        )
        listening = asyncio.create_task(connection.listen())
        signalled = asyncio.create_task(is_to_end.wait())
        await asyncio.wait([listening, signalled], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.to_thread(agent.close)
        await transport.wait_for_answers()
        signalled.cancel()
        listening.cancel()
        await connection.close()

    return serve_client(converse)
