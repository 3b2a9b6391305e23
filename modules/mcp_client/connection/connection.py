"""Connection to a server with the official SDK, which is loaded with this module.

All of it runs in the event loop of `ClientThread`; no type of the SDK leaves this module.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Literal, TypeVar

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from pydantic import FileUrl, ValidationError

from modules.mcp_client.answers import (
    Answer,
    answer_of_call,
    answer_of_prompt,
    answer_of_resource,
)
from modules.mcp_client.config import ServerConfig
from modules.mcp_client.connection.pending_call import Channel
from modules.mcp_client.connection.program import ServerProgram, StartProgram
from modules.mcp_client.connection.questions import ask_form, ask_to_open
from modules.mcp_client.connection.transports import HttpTransport, ProgramTransport
from modules.mcp_client.failures import RequestRefused, ServerFailed
from modules.mcp_client.listing import MAX_TOOLS, Listing, OfferedPrompt, OfferedTool
from modules.mcp_client.sign_in.tokens import TokenFile
from utils.i18n import Phrase, phrase
from utils.text.clean import visible
from utils.text.sentences import unended

Result = TypeVar("Result")
State = Literal["off", "starting", "running", "failed"]
_CONNECT_SECONDS = 180.0  # the first time a package manager may have to fetch the server
_LIST_SECONDS = 60.0
_END_SECONDS = 5.0
_MAX_PAGES = 50
_REFUSALS = (types.INVALID_PARAMS, types.METHOD_NOT_FOUND)
_VERSION = "1"  # of this client, as servers are told
_NOT_FOUND = (126, 127)  # exit codes of a shell that cannot start a program
_MAX_SAID = 300  # characters of a failure


class Connection:
    """One server from its start to its end; another one is made to start it again.

    *start* starts the program of one that is no address. *root* is the folder that it is told of.
    *tokens* are sent to an address, where there are any.
    *on_listing* is called, in the event loop, with all that it offers, whenever that is new.
    """

    def __init__(
        self,
        config: ServerConfig,
        start: StartProgram,
        root_uri: str,
        on_listing: Callable[[Listing], None],
        tokens: TokenFile | None,
    ) -> None:
        for name in ("mcp", "client"):  # what the SDK has to log is told as a failure
            logging.getLogger(name).addHandler(logging.NullHandler())
        self._config = config
        self._start = start
        self._root_uri = root_uri
        self._on_listing = on_listing
        self._tokens = tokens
        self._client: Client | None = None
        self._program: ServerProgram | None = None
        self._channel: Channel | None = None
        self._ready = asyncio.Event()
        self._closing = asyncio.Event()
        self._is_stale = False
        self._wanted: Phrase | None = None  # what the person has to do first
        self.wants_sign_in = False
        self.state: State = "starting"
        self.failure: Phrase | None = None
        self.protocol = ""

    # --- its life --------------------------------------------------------------------------------

    async def run(self) -> None:
        """Connect, and stay so until `close` or until the server ends."""
        try:
            async with asyncio.timeout(None) as limit:
                limit.reschedule(asyncio.get_running_loop().time() + _CONNECT_SECONDS)
                async with self._new_client() as client:
                    # Its patterns are the server's, and no match of a pattern can be broken off.
                    client.session.validate_tool_result = _trust_result  # type: ignore[method-assign]
                    self._client, self.protocol = client, client.protocol_version
                    await self._list()
                    limit.reschedule(None)
                    self.state = "running"
                    self._ready.set()
                    await self._stay(client)
        except asyncio.CancelledError:
            raise
        except BaseExceptionGroup as group:
            self._fail(_first(group))
        except Exception as error:  # noqa: BLE001 - whatever a server makes the SDK raise is its end
            self._fail(error)
        finally:
            self._client = None
            if self.state != "failed":
                self.state = "off"
            self._ready.set()

    def _new_client(self) -> Client:
        if self._config.url:
            transport: Any = HttpTransport(
                self._config, self._tokens, self._on_status, self._on_refused
            )
        else:
            transport = ProgramTransport(self._start, self._closing)
            self._program = transport.program
        return Client(
            transport,
            client_info=types.Implementation(name="onefold", version=_VERSION),
            elicitation_callback=self._on_elicitation,
            list_roots_callback=self._on_list_roots,
            message_handler=self._on_message,
            cache=None,
        )

    async def _stay(self, client: Client) -> None:
        capability = client.server_capabilities.tools
        is_modern = client.session.discover_result is not None
        if is_modern and capability and capability.list_changed:
            listening = asyncio.create_task(self._listen(client))
            try:
                await self._closing.wait()
            finally:
                listening.cancel()
                await asyncio.wait([listening])
        else:
            await self._closing.wait()

    async def _listen(self, client: Client) -> None:
        """Take note of changes of the lists, which servers of 2026-07-28 tell only who listens."""
        with suppress(Exception):  # a server that tells nothing is as one that has nothing to tell
            async with client.listen(tools_list_changed=True, prompts_list_changed=True) as events:
                async for _ in events:
                    await self._list()

    def _on_refused(self, why: Phrase) -> None:
        self._wanted = why

    def _on_status(self, status: int) -> None:
        """Take note of how the server answers: a renewed token may be good after a refusal."""
        self._wanted = None
        if status == httpx2.codes.UNAUTHORIZED and self._tokens:
            self._wanted = phrase(
                "it wants a sign-in: /mcp sign-in {name} in a dialogue begins it",
                name=visible(self._config.name),
            )
        elif status in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN):
            self._wanted = phrase(
                "it does not let you in ({status}); see “headers” in your own mcp.json",
                status=status,
            )
        self.wants_sign_in = status == httpx2.codes.UNAUTHORIZED and self._tokens is not None

    def _fail(self, error: BaseException) -> None:
        self.state, self.failure = "failed", self._reason(error)

    def _reason(self, error: BaseException) -> Phrase:
        if self._wanted:
            return self._wanted
        program = self._program
        if program and (program.failure or not program.is_running):
            program.wait(_END_SECONDS)
            said = visible(program.error_text.rpartition("\n")[2])[:_MAX_SAID]
            if program.exit_code in _NOT_FOUND and self._is_unseen(said):
                return phrase(
                    "{program} is not there in the sandbox: add its folder to show_folders, or say"
                    " “sandbox”: false in your own mcp.json",
                    program=visible(self._config.command[0]),
                )
            why = program.failure or phrase("it ended")
            return phrase("{why} ({said})", why=why, said=said) if said else why
        if isinstance(error, TimeoutError):
            return phrase("it did not answer in time")
        if isinstance(error, ServerFailed):
            return error.message
        said = unended(visible(" ".join(str(error).split()))[:_MAX_SAID])
        return phrase("{said}", said=said or type(error).__name__)

    def _is_unseen(self, said: str) -> bool:
        """Return whether bash *said* that its program is not there, and for the person it is."""
        program = self._config.command[0]
        is_missing = said.startswith("bash: ") and visible(program) in said
        return is_missing and self._config.is_sandboxed and shutil.which(program) is not None

    async def wait_ready(self) -> None:
        """Wait until it is connected. Raises `ServerFailed`."""
        await self._ready.wait()
        if self.state != "running":
            raise ServerFailed(self.failure or phrase("it ended"))

    def stop_program(self) -> None:
        """Kill its program, from any thread, however busy the event loop is."""
        if self._program:
            self._program.stop()

    async def close(self) -> None:
        """End it, and its program with it."""
        self.stop_program()
        self._closing.set()

    def wait_ended(self, seconds: float) -> bool:
        """Wait, outside the event loop, until nothing of its program is alive."""
        return self._program.wait(seconds) if self._program else True

    @property
    def is_alive(self) -> bool:
        has_ended = self._program is not None and not self._program.is_running
        return self.state in ("starting", "running") and not has_ended

    @property
    def error_text(self) -> str:
        return self._program.error_text if self._program else ""

    # --- what is asked of it ---------------------------------------------------------------------

    async def call_tool(self, name: str, arguments: dict[str, Any], channel: Channel) -> Answer:
        """Call a tool. Raises `ServerFailed`."""

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g}" + (f" / {total:g}" if total else "")
            channel.note(f"{share} {message or ''}")

        result = await self._asked(
            channel,
            lambda client: client.call_tool(name, arguments, progress_callback=on_progress),
        )
        return answer_of_call(result)

    async def get_prompt(self, name: str, arguments: dict[str, str], channel: Channel) -> Answer:
        """Return the text of a prompt. Raises `ServerFailed`."""
        return answer_of_prompt(
            await self._asked(channel, lambda client: client.get_prompt(name, arguments))
        )

    async def read_resource(self, uri: str, channel: Channel) -> Answer:
        """Return a resource, without *uri* a list of them. Raises `ServerFailed`."""
        if uri:
            return answer_of_resource(
                await self._asked(channel, lambda client: client.read_resource(uri))
            )
        found = await self._asked(channel, lambda client: client.list_resources())
        templates = await self._asked(channel, _templates)
        lines = [f"{one.uri}  {one.name}  {one.description or ''}" for one in found.resources]
        lines += [f"{one.uri_template}  {one.name}  {one.description or ''}" for one in templates]
        return Answer("\n".join(line.rstrip() for line in lines[:MAX_TOOLS]) or "(no resources)")

    async def _asked(
        self, channel: Channel, request: Callable[[Client], Coroutine[Any, Any, Result]]
    ) -> Result:
        await self.wait_ready()
        if self._client is None:
            raise ServerFailed(self.failure or phrase("it ended"))
        if self._program:
            self._program.begin_call()
        self._channel = channel
        ended = asyncio.create_task(self._closing.wait())
        running = asyncio.create_task(request(self._client))
        try:
            await asyncio.wait([running, ended], return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise ServerFailed(self._reason(ConnectionError()))
            return running.result()
        except MCPError as error:
            if not self.is_alive:
                raise ServerFailed(self._reason(error)) from error
            if self._config.url and error.error.code not in _REFUSALS:
                raise ServerFailed(self._reason(error)) from error  # maybe it knows us no more
            said = visible(" ".join(error.error.message.split()))[:_MAX_SAID]
            raise RequestRefused(phrase("it refuses: {said}", said=unended(said))) from error
        except (ValidationError, RuntimeError, httpx2.HTTPError, BaseExceptionGroup) as error:
            first = _first(error) if isinstance(error, BaseExceptionGroup) else error
            raise ServerFailed(self._reason(first)) from error
        finally:
            ended.cancel()
            running.cancel()
            self._channel = None
            if self._is_stale:
                self._is_stale = False
                with suppress(MCPError, ValidationError, TimeoutError):
                    await self._list()

    # --- what it offers --------------------------------------------------------------------------

    async def _list(self) -> None:
        """Read the lists again and tell of them."""
        client = self._client
        if client is None:
            return
        capabilities = client.server_capabilities
        async with asyncio.timeout(_LIST_SECONDS):
            tools = await _tools(client) if capabilities.tools else []
            prompts = await _prompts(client) if capabilities.prompts else []
        self._on_listing(
            Listing(
                tuple(
                    OfferedTool(one.name, one.description or one.title or "", one.input_schema)
                    for one in tools[:MAX_TOOLS]
                ),
                tuple(
                    OfferedPrompt(
                        one.name,
                        one.description or one.title or "",
                        tuple(each.name for each in one.arguments or ()),
                        tuple(each.name for each in one.arguments or () if each.required),
                    )
                    for one in prompts[:MAX_TOOLS]
                ),
                capabilities.resources is not None,
            )
        )

    async def _on_message(self, message: Any) -> None:
        changes = (types.ToolListChangedNotification, types.PromptListChangedNotification)
        if isinstance(message, changes):
            self._is_stale = True

    async def _on_elicitation(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - there is one call at a time
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        channel = self._channel
        if channel is None:
            return types.ElicitResult(action="cancel")
        name = self._config.name
        if isinstance(params, types.ElicitRequestURLParams):
            action = await ask_to_open(name, params.message, params.url, channel.ask)
            return types.ElicitResult(action=action)
        action, values = await ask_form(name, params.message, params.requested_schema, channel.ask)
        return types.ElicitResult(action=action, content={**values} if values else None)

    async def _on_list_roots(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - every server is told of the same
    ) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(self._root_uri))])


async def _trust_result(name: str, result: object) -> None:
    """Take *result* as it is: it is shown to the model as text, whatever its shape."""


async def _tools(client: Client) -> list[types.Tool]:
    found: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAX_TOOLS:
            break
    return found


async def _prompts(client: Client) -> list[types.Prompt]:
    found: list[types.Prompt] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_prompts(cursor=cursor)
        found += page.prompts
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAX_TOOLS:
            break
    return found


async def _templates(client: Client) -> list[types.ResourceTemplate]:
    try:
        return (await client.list_resource_templates()).resource_templates
    except MCPError:  # few servers have any
        return []


def _first(group: BaseException) -> BaseException:
    """Return the first cause in *group* that is none of groups."""
    while isinstance(group, BaseExceptionGroup) and group.exceptions:
        group = group.exceptions[0]
    return group
