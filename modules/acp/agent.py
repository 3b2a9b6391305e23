"""The agent of the protocol: what a client may ask of it, each request answered once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from acp import PROTOCOL_VERSION, RequestError
from acp.agent.connection import AgentSideConnection
from acp.interfaces import Client
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    ClientCapabilities,
    CloseSessionResponse,
    ForkSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionForkCapabilities,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
)

from modules.acp.authentication import AUTH_METHODS, auth_methods
from modules.acp.client_link import ClientLink
from modules.acp.given_servers import GivenServer
from modules.acp.open_sessions import OpenSessions, Workplace, unknown_session
from modules.acp.options import MODE, choose
from modules.acp.prompts import Block, read_prompt
from modules.acp.session import AcpSession
from modules.stdio_server.json_lines import Message
from modules.translator import Translator
from utils.i18n import UserError, phrase

Result = TypeVar("Result")
_CLOSE_SECONDS = 30.0
"""Seconds that the stopped turn of one session has to end, while its client waits."""
_ONE_FOLDER = phrase("Onefold works in one folder and does not support additionalDirectories.")


class OnefoldAgent:
    """Answers the requests of one client, with *workplace* to work in.

    A request that has to read or write goes to a thread; what a turn does is in one of its own.
    """

    def __init__(self, workplace: Workplace, translator: Translator, version: str) -> None:
        self._workplace = workplace
        self._translator = translator
        self._version = version
        self._after_result: dict[str, Callable[[], None]] = {}
        self._client: ClientLink
        self.sessions: OpenSessions

    def on_connect(self, conn: Client) -> None:
        """Be given the client; the SDK calls this in the event loop, before any request."""
        if not isinstance(conn, AgentSideConnection):
            raise TypeError(f"{conn!r} is no connection of an agent")
        self._client = ClientLink(conn, asyncio.get_running_loop())
        self.sessions = OpenSessions(self._workplace, self._client, self._translator)

    def close(self) -> None:
        """Let go of everything: the client went away, or is to."""
        self.sessions.leave()  # first: a question that nobody answers then stays open
        self._client.leave()
        self.sessions.close_all()

    async def on_sent(self, message: Message) -> None:
        """Do what had to wait until *message* has left: before its answer, a client does not know
        the session that it asked for."""
        result = message.get("result")
        session = result.get("sessionId") if isinstance(result, dict) else None
        if session and (follow_up := self._after_result.pop(session, None)):
            await asyncio.to_thread(follow_up)

    # --- the connection --------------------------------------------------------------------------

    async def initialize(
        self,
        protocol_version: int,  # noqa: ARG002 - we speak one; the client decides whether it does
        client_capabilities: ClientCapabilities | None = None,
        **_: Any,
    ) -> InitializeResponse:
        self._client.capabilities = client_capabilities or ClientCapabilities()
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=True,
                mcp_capabilities=McpCapabilities(http=True),
                prompt_capabilities=PromptCapabilities(image=True, embedded_context=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    fork=SessionForkCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            agent_info=Implementation(name="onefold", title="Onefold", version=self._version),
            auth_methods=auth_methods(self._client.capabilities, self._translator),
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """Look whether there is a key by now: it is the person who puts it there."""
        if method_id not in AUTH_METHODS:
            raise RequestError.invalid_params({"details": f"there is no method {method_id!r}"})
        try:
            await asyncio.to_thread(self._workplace.check_model)
        except UserError as error:
            details = self._translator.render(error.message)
            raise RequestError.auth_required({"details": details}) from None
        return AuthenticateResponse()

    # --- sessions --------------------------------------------------------------------------------

    async def new_session(
        self,
        cwd: str,
        additional_directories: Sequence[str] | None = None,
        mcp_servers: Sequence[GivenServer] | None = None,
        **_: Any,
    ) -> NewSessionResponse:
        self._check_folders(additional_directories)
        session = await self._in_thread(lambda: self.sessions.new(cwd))
        await self._in_thread(lambda: session.give_servers(mcp_servers))
        self._follow_up(session)
        return NewSessionResponse(
            session_id=session.id,
            modes=session.view.mode_state(),
            config_options=session.view.config_options(),
        )

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: Sequence[GivenServer] | None = None,
        additional_directories: Sequence[str] | None = None,
        **_: Any,
    ) -> LoadSessionResponse:
        """Open a session and send its history before the answer."""
        session = await self._opened(cwd, session_id, additional_directories)
        await self._in_thread(session.replay)
        await self._in_thread(lambda: session.give_servers(mcp_servers))
        await self._in_thread(session.view.introduce)
        return LoadSessionResponse(
            modes=session.view.mode_state(), config_options=session.view.config_options()
        )

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: Sequence[str] | None = None,
        mcp_servers: Sequence[GivenServer] | None = None,
        **_: Any,
    ) -> ResumeSessionResponse:
        """Open a session that the client knows the history of."""
        session = await self._opened(cwd, session_id, additional_directories)
        await self._in_thread(lambda: session.give_servers(mcp_servers))
        await self._in_thread(session.view.introduce)
        return ResumeSessionResponse(
            modes=session.view.mode_state(), config_options=session.view.config_options()
        )

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: Sequence[str] | None = None,
        mcp_servers: Sequence[GivenServer] | None = None,
        **_: Any,
    ) -> ForkSessionResponse:
        self._check_folders(additional_directories)
        await self._closed(session_id)
        session = await self._in_thread(lambda: self.sessions.fork(cwd, session_id))
        await self._in_thread(lambda: session.give_servers(mcp_servers))
        self._follow_up(session)
        return ForkSessionResponse(
            session_id=session.id,
            modes=session.view.mode_state(),
            config_options=session.view.config_options(),
        )

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        return await self._in_thread(lambda: self.sessions.list_page(cwd, cursor))

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        # It waits here and not in a thread: of these there are few, and others need them.
        await self._closed(session_id)
        session = self.sessions.begin_close(session_id)
        try:
            if session.answered:
                await asyncio.wait([asyncio.wrap_future(session.answered)], timeout=_CLOSE_SECONDS)
        finally:  # also when nobody wants the answer any more: others wait for its end
            await asyncio.shield(self._in_thread(lambda: self.sessions.end_close(session)))
        return CloseSessionResponse()

    # --- a session -------------------------------------------------------------------------------

    async def prompt(self, session_id: str, prompt: list[Block], **_: Any) -> PromptResponse:
        # Nothing is waited for before the turn has begun: what cancels it comes right behind.
        session = self.sessions.find(session_id)
        answered = session.begin(read_prompt(prompt, session.project.root))
        return await asyncio.wrap_future(answered)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the turn of a session; one that is not open has none."""
        try:
            session = self.sessions.find(session_id)
        except RequestError:
            return
        session.cancel()

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> SetSessionModeResponse:
        await self._choose(session_id, MODE, mode_id)
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        session = await self._choose(session_id, config_id, str(value))
        return SetSessionConfigOptionResponse(config_options=session.view.config_options())

    async def _choose(self, session_id: str, name: str, value: str) -> AcpSession:
        session = self.sessions.find(session_id)

        def change() -> None:
            try:
                choose(session.terminal, name, value)
            except UserError:
                if session.is_ending:
                    raise unknown_session(session_id) from None
                raise
            session.view.send_options()

        await self._in_thread(change)
        return session

    # --- how -------------------------------------------------------------------------------------

    async def _opened(
        self, cwd: str, session_id: str, additional_directories: Sequence[str] | None
    ) -> AcpSession:
        self._check_folders(additional_directories)
        await self._closed(session_id)
        return await self._in_thread(lambda: self.sessions.open(cwd, session_id))

    async def _closed(self, session_id: str) -> None:
        """Wait until nobody closes the session any more."""
        while closing := self.sessions.closing(session_id):
            await asyncio.wait([asyncio.wrap_future(closing)])

    def _check_folders(self, additional_directories: Sequence[str] | None) -> None:
        if additional_directories:
            raise RequestError.invalid_params({"details": self._translator.render(_ONE_FOLDER)})

    def _follow_up(self, session: AcpSession) -> None:
        """Introduce *session* once the client knows its id."""
        self._after_result[session.id] = session.view.introduce

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        """Return what *work* does, in a thread. Raises `RequestError` for what cannot be done."""
        try:
            return await asyncio.to_thread(work)
        except UserError as error:
            raise RequestError(-32603, self._translator.render(error.message)) from None
