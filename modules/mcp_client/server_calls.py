"""Calls of tools and resources of servers: what was answered, and what became of the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from core.cards import Change, TextCard
from core.tools import Outcome, RunningTool, ToolError
from modules.mcp_client.answers import Answer, card_text, fenced
from modules.mcp_client.failures import ServerFailed
from modules.outputs import Outputs
from modules.pictures.feature import Pictures
from utils.i18n import Phrase, UserError, phrase
from utils.pictures import Picture
from utils.text.clean import visible
from utils.waiting import Stop, Stopped

if TYPE_CHECKING:
    from modules.mcp_client.servers import Request, Servers
    from modules.sandbox.run.file_changes import FileChanges, FolderState


class FolderWatch(Protocol):
    """Watches what programs do to the folder that are not run as calls of their own."""

    def begin_watch(self) -> FolderState | None: ...
    def end_watch(self, before: FolderState | None) -> tuple[FileChanges, Sequence[Phrase]]: ...
    def outside_environment(self) -> Mapping[str, str]: ...


class ServerCalls:
    """Calls to the servers that *found* returns, each ended by *stop*."""

    def __init__(
        self,
        found: Callable[[], Servers | None],
        folder: FolderWatch,
        outputs: Outputs,
        pictures: Pictures,
        stop: Stop,
    ) -> None:
        self._found = found
        self._folder = folder
        self._outputs = outputs
        self._pictures = pictures
        self._stop = stop

    def call_tool(self, server: str, tool: str, arguments: dict[str, Any]) -> RunningTool:
        return (
            yield from self._run(
                server,
                tool,
                lambda connection, channel: connection.call_tool(tool, arguments, channel),
            )
        )

    def read_resource(self, server: str, uri: str, _: dict[str, Any]) -> RunningTool:
        return (
            yield from self._run(
                server, uri, lambda connection, channel: connection.read_resource(uri, channel)
            )
        )

    def _run(self, name: str, what: str, request: Request[Answer]) -> RunningTool:
        """Ask a server, and say what it answered and what became of the files."""
        servers = self._found()
        if servers is None:
            raise ToolError(phrase("There is no MCP server {name}; /mcp shows them.", name=name))
        config = servers.find(name)
        before = self._folder.begin_watch() if config and config.command else None
        try:
            answer = yield from servers.ask(name, request, self._stop)
        except ServerFailed as error:
            if config and config.command:
                self._folder.end_watch(before)
            why = phrase("MCP server {name}: {why}.", name=visible(name), why=error.message)
            raise ToolError(why, error.code) from None
        except (Stopped, GeneratorExit):
            if config and config.command:
                self._folder.end_watch(before)
            raise
        changes = () if before is None else self._folder.end_watch(before)[0].changes
        return self._outcome(name, what, answer, changes)

    def _outcome(
        self, name: str, what: str, answer: Answer, changes: tuple[Change, ...]
    ) -> Outcome:
        pictures, problems = self._kept(name, answer.pictures)
        said = "\n".join([answer.text, *problems]).strip()
        text = said or "(no text)"
        shown = self._outputs.shorten(fenced(name, text))
        if answer.is_error:
            shown = f"The tool failed. {shown}"
        title = f"{visible(name)}: {visible(what)}"
        card = TextCard(
            title,
            card_text(said) or phrase("No text. Pictures: {count}", count=len(pictures)),
            pictures=pictures,
        )
        return Outcome(
            *(shown, card, not answer.is_error, changes, pictures),
            error_code="command" if answer.is_error else None,
        )

    def _kept(self, name: str, found: Sequence[bytes]) -> tuple[tuple[Picture, ...], list[str]]:
        pictures: list[Picture] = []
        problems: list[str] = []
        for number, data in enumerate(found, 1):
            try:
                pictures.append(self._pictures.add(data, f"{visible(name)} {number}"))
            except UserError as error:
                problems.append(f"[{error.message}]")
        return tuple(pictures), problems
