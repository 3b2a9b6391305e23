"""Routes about the server itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.feature import Command
from core.tool_spec import ToolSpec
from modules.pictures.formats import MAX_PICTURE_FILE_BYTES
from modules.web.api.settings_api import ModelServers
from modules.web.files.content import MAX_FILE_BYTES, MAX_TEXT_BYTES
from modules.web.http.auth import LINK_SECONDS, Authenticator
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import MAX_MESSAGE_LENGTH
from utils.text.codec import to_plain


@dataclass(frozen=True, kw_only=True)
class ServerInfo:
    """Facts that stay the same while the server runs."""

    version: str
    project: str
    root: str
    language: str
    model: ModelServers
    url: str
    port: int
    has_terminals: bool
    is_remote: bool = False


class ServerApi:
    """Answers about the server; *commands* and *tools* give those of its sessions."""

    def __init__(
        self,
        info: ServerInfo,
        authenticator: Authenticator,
        registry: SessionRegistry,
        commands: Callable[[], Sequence[Command]],
        tools: Callable[[], Mapping[str, ToolSpec]],
    ) -> None:
        self._info = info
        self._authenticator = authenticator
        self._registry = registry
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
            "needs_key": "Whether no model can be asked before a key is saved.",
            "model": "The name of the model.",
            "port": "Where this is served.",
            "terminals?": "Whether pages may open a shell; see docs/terminal.md.",
            "remote?": "Whether other devices can be paired; see docs/phone.md.",
            "sessions": "How many are open, and how many are running.",
            "tools": "By name, what to know of the tools of the model to show their calls.",
            "limits": "Characters of a message; bytes of a text, an upload, a preview, a picture.",
        },
    )
    def status(self) -> dict[str, Any]:
        info = self._info
        runners = self._registry.open_runners
        return {
            "version": info.version,
            "project": info.project,
            "root": info.root,
            "language": info.language,
            "practice": info.model.is_practice,
            "needs_key": info.model.needs_key,
            "model": info.model.name,
            "port": info.port,
            **({"terminals": True} if info.has_terminals else {}),
            **({"remote": True} if info.is_remote else {}),
            "sessions": {
                "open": len(runners),
                "running": sum(runner.is_working for runner in runners),
            },
            "tools": to_plain(self._tools()),
            "limits": {
                "message": MAX_MESSAGE_LENGTH,
                "text": MAX_TEXT_BYTES,
                "upload": MAX_FILE_BYTES,
                "raw": MAX_FILE_BYTES,
                "picture": MAX_PICTURE_FILE_BYTES,
            },
        }

    @route(
        "GET",
        "/api/commands",
        "The slash commands.",
        answer={
            "commands": "Each with its name, usage, help, and whether its arguments are completed."
        },
    )
    def commands(self) -> dict[str, Any]:
        return {
            "commands": [
                {
                    "name": command.name,
                    "usage": command.usage,
                    "help": to_plain(command.help),
                    "completed": command.is_completed,
                }
                for command in self._commands()
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
        return {"url": self._info.url + self._authenticator.new_link(LINK_SECONDS)}
