"""The SDK's own client, which records what it is asked, and `mcp` as a program behind it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import (
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ImageContent,
    TextContent,
)

ROOT = Path(__file__).parents[3]
HANG_SECONDS = 60.0
"""A guard against hanging, no measure of anything."""
Mode = Literal["legacy", "2026-07-28"]
MODES: tuple[Mode, ...] = ("legacy", "2026-07-28")

Answer = Callable[[ElicitRequestFormParams], ElicitResult]


def accept(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


@dataclass
class Person:
    """Answers each question with the next of *answers*, and keeps the questions."""

    answers: list[ElicitResult]
    questions: list[ElicitRequestFormParams] = field(default_factory=list)

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.questions.append(params)
        return self.answers.pop(0)


def environment(base: Path, url: str = "") -> dict[str, str]:
    values = {**os.environ, "ONEFOLD_DATA_DIR": str(base / "data")}
    values.pop("DEEPSEEK_API_KEY", None)
    return values | ({"DEEPSEEK_BASE_URL": url, "DEEPSEEK_API_KEY": "sk-test"} if url else {})


def command(base: Path, *options: str) -> list[str]:
    return [str(ROOT / "main.py"), "mcp", "--project", str(base / "project"), *options]


@asynccontextmanager
async def connected(
    base: Path,
    *options: str,
    mode: Mode = "legacy",
    person: Person | None = None,
    url: str = "",
) -> AsyncIterator[Client]:
    """Run `mcp` on the project in *base*, with its data there; *person* answers its questions."""
    server = StdioServerParameters(
        command=sys.executable,
        args=command(base, *options),
        env=environment(base, url),
        cwd=base,
    )
    async with Client(stdio_client(server), mode=mode, elicitation_callback=person) as client:
        yield client


async def call(client: Client, name: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(name, arguments, read_timeout_seconds=HANG_SECONDS)


def text_of(result: CallToolResult) -> str:
    return "\n".join(one.text for one in result.content if isinstance(one, TextContent))


def pictures_of(result: CallToolResult) -> list[str]:
    return [one.mime_type for one in result.content if isinstance(one, ImageContent)]


def project_in(base: Path) -> Path:
    folder = base / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder
