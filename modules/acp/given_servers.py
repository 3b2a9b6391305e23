"""MCP servers that a client gives a session, as a file of the person's would have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

GivenServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


def tables_of(servers: Sequence[GivenServer]) -> Mapping[str, Mapping[str, Any]]:
    """Return what *servers* are, by name. A kind that cannot be used is told of when it is."""
    return {server.name: _table(server) for server in servers}


def _table(server: GivenServer) -> Mapping[str, Any]:
    match server:
        case McpServerStdio():
            variables = {one.name: one.value for one in server.env}
            return {"command": server.command, "args": server.args, "env": variables}
        case HttpMcpServer() | SseMcpServer():
            headers = {one.name: one.value for one in server.headers}
            return {"type": server.type, "url": server.url, "headers": headers}
        case AcpMcpServer():  # not offered: our capabilities say so
            return {}
