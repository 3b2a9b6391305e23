"""A server made with the official SDK: on standard input and output, or on HTTP with a port."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import Image, MCPServer

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = MCPServer("test")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def write(path: str, text: str) -> str:
    """Write a file."""
    Path(path).write_text(text)
    return f"wrote {path}"


@server.tool()
def look(path: str) -> str:
    """Read any file, or a variable."""
    if path.startswith("$"):
        return os.environ.get(path[1:], "(none)")
    return Path(path).read_text()


@server.tool()
def pixel() -> Image:
    """Return a picture."""
    return Image(data=PIXEL, format="png")


@server.resource("test://words")
def words() -> str:
    """Words."""
    return "some words"


@server.prompt()
def review(path: str) -> str:
    """Review a file."""
    return f"Please review {path}."


def serve_http() -> None:
    """Serve on loopback and print the port, until standard input ends."""
    import socket

    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 - who started it reads it
    config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    if sys.argv[1:] == ["http"]:
        serve_http()
    else:
        server.run()
