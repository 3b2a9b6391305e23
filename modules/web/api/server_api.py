"""What can be asked about the server itself over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.feature import Command
from core.tool_spec import ToolSpec
from modules.pictures.formats import LARGEST
from modules.web.files.content import LARGEST_FILE, LARGEST_TEXT
from modules.web.http.auth import LINK_SECONDS, Authenticator
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import LONGEST
from utils.text.codec import to_plain


@dataclass(frozen=True, kw_only=True)
class About:
    """What does not change while the server runs."""

    version: str
    project: str
    root: str
    language: str
    model: str
    is_practice: bool
    url: str
    port: int


class ServerApi:
    """Answers about the server; *commands* and *tools* give those of its sessions."""

    def __init__(
        self,
        about: About,
        access: Authenticator,
        workspace: SessionRegistry,
        commands: Callable[[], Sequence[Command]],
        tools: Callable[[], Mapping[str, ToolSpec]],
    ) -> None:
        self._about = about
        self._access = access
        self._workspace = workspace
        self._commands = commands
        self._tools = tools

    @route(
        "GET",
        "/api/status",
        "What is served here.",
        answer={
            "version": "Of Onefold.",
            "project": "The name of the folder.",
            "root": "Its path.",
            "language": "en or zh: that of the page unless it is asked for another.",
            "practice": "Whether the built-in practice model answers.",
            "model": "The name of the model.",
            "port": "Where this is served.",
            "sessions": "How many are open, and how many are running.",
            "tools": "By name, what to know of the tools of the model to show their calls.",
            "limits": "Characters of a message; bytes of a text, an upload, a preview, a picture.",
        },
    )
    def status(self) -> dict[str, Any]:
        about = self._about
        seats = self._workspace.open_seats
        return {
            "version": about.version,
            "project": about.project,
            "root": about.root,
            "language": about.language,
            "practice": about.is_practice,
            "model": about.model,
            "port": about.port,
            "sessions": {"open": len(seats), "running": sum(seat.is_working for seat in seats)},
            "tools": to_plain(self._tools()),
            "limits": {
                "message": LONGEST,
                "text": LARGEST_TEXT,
                "upload": LARGEST_FILE,
                "raw": LARGEST_FILE,
                "picture": LARGEST,
            },
        }

    @route(
        "GET",
        "/api/commands",
        "The slash commands.",
        answer={"commands": "Each with its name, usage and help."},
    )
    def commands(self) -> dict[str, Any]:
        return {
            "commands": [
                {"name": c.name, "usage": c.usage, "help": to_plain(c.help)}
                for c in self._commands()
            ]
        }

    @route(
        "POST",
        "/api/login-links",
        "A login link that works once.",
        status=201,
        answer={"url": "To be opened within ten minutes."},
    )
    def new_link(self) -> dict[str, Any]:
        return {"url": self._about.url + self._access.new_link(LINK_SECONDS)}
