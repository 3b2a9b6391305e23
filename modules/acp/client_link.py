"""The client as the threads of turns see it: what is shown to it, and what it is asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Literal, TypeVar

from acp import RequestError
from acp.agent.connection import AgentSideConnection
from acp.schema import (
    ClientCapabilities,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from pydantic import ValidationError

from utils.waiting import Stop

Answer = TypeVar("Answer")
WriteAnswer = Literal["done", "refused", "silent"]
_READ_SECONDS = 2.0
"""Seconds to wait for the text of a file in the editor, which helps, but is not needed."""
_WRITE_SECONDS = 5.0
"""Seconds to wait until the editor has taken over what is on disk already."""
_NOT_FOUND = -32002
_RELEASE_SECONDS = 2.0
_TERMINAL_BYTES = 1_000_000
"""Bytes of its output that a terminal keeps."""


class ClientLink:
    """Speaks to the client of *connection* from any thread but that of the event loop *loop*."""

    def __init__(self, connection: AgentSideConnection, loop: asyncio.AbstractEventLoop) -> None:
        self._connection = connection
        self._loop = loop
        self._gone = Stop()
        self.capabilities = ClientCapabilities()

    def leave(self) -> None:
        """Wait for nothing any more: the client went away, or we do."""
        self._gone.set()

    @property
    def is_gone(self) -> bool:
        return self._gone.is_set()

    def send(self, session: str, update: Any, stop: Stop) -> None:
        """Send *update* of *session*, and wait until it left unless *stop* is set.

        Updates arrive in the order in which they are sent. One for a client that went away is
        dropped: the session is kept.
        """
        coroutine = self._connection.session_update(session, update)
        try:
            self._wait(coroutine, stop)
        except ConnectionError:
            return

    def ask_permission(
        self, session: str, call: ToolCallUpdate, options: list[PermissionOption], stop: Stop
    ) -> RequestPermissionResponse | None:
        """Return what the person chose; None when nobody did, or *stop* was set meanwhile."""
        coroutine = self._connection.request_permission(session, call, options)
        try:
            return self._wait(coroutine, stop, is_dropped=True)
        except ConnectionError:  # nobody can say no any more: the question stays open
            self.leave()
        except (RequestError, ValidationError):
            return None
        return None

    def editor_text(
        self, session: str, path: str, stop: Stop, *, missing: str | None = None
    ) -> str | None:
        """Return the text of the file *path* as the editor shows it, None where it does not say.

        *missing* stands for a file that it knows nothing of.
        """
        if not self._reads_files:
            return None
        return self._wait(self._read(session, path, missing), stop, is_dropped=True)

    @property
    def _reads_files(self) -> bool:
        fs = self.capabilities.fs
        return bool(fs and fs.read_text_file)

    @property
    def writes_files(self) -> bool:
        """Whether the editor can be given a text, and says before what it has unsaved."""
        fs = self.capabilities.fs
        return bool(fs and fs.write_text_file and self._reads_files)

    def write_text(self, session: str, path: str, text: str, stop: Stop) -> WriteAnswer:
        """Have the editor show and save *text* as the file *path*; return what came of it."""
        answer = self._wait(self._write(session, path, text), stop, is_dropped=True)
        return answer or "silent"

    async def _write(self, session: str, path: str, text: str) -> WriteAnswer:
        writing = self._connection.write_text_file(session, path, text)
        try:
            await asyncio.wait_for(writing, _WRITE_SECONDS)
        except TimeoutError:
            return "silent"
        except (ConnectionError, RequestError, ValidationError):
            return "refused"
        return "done"

    def open_terminal(
        self, session: str, command: Sequence[str], folder: str, stop: Stop
    ) -> str | None:
        """Return the id of a terminal in which the client runs *command*; None where there is none.

        It is to be given to `release_terminal`. One that comes after *stop* is released here.
        """
        future = self._submit(self._create(session, command, folder))
        if future is None:
            return None
        self._wait_for(future, stop)
        if future.done():
            return future.result()
        future.add_done_callback(
            lambda made: self.release_terminal(session, made.result() or "", is_awaited=False)
        )
        return None

    async def _create(self, session: str, command: Sequence[str], folder: str) -> str | None:
        program, *arguments = command
        try:
            made = await self._connection.create_terminal(
                session, program, arguments, cwd=folder, output_byte_limit=_TERMINAL_BYTES
            )
        except (ConnectionError, RequestError, ValidationError):
            return None
        return made.terminal_id

    def release_terminal(
        self, session: str, terminal: str, *, is_ending: bool = False, is_awaited: bool = True
    ) -> None:
        """Let the client forget *terminal*, if it is one; what it showed stays.

        The command of one that *is ending* may do so by itself before.
        """
        releasing = self._release(session, terminal, is_ending=is_ending) if terminal else None
        future = self._submit(releasing) if releasing else None
        if future and is_awaited:
            self._wait_for(future, Stop())

    async def _release(self, session: str, terminal: str, *, is_ending: bool) -> None:
        no_answer = (ConnectionError, RequestError, ValidationError, TimeoutError)
        if is_ending:
            with suppress(*no_answer):
                ending = self._connection.wait_for_terminal_exit(session, terminal)
                await asyncio.wait_for(ending, _RELEASE_SECONDS)
        with suppress(*no_answer):
            releasing = self._connection.release_terminal(session, terminal)
            await asyncio.wait_for(releasing, _RELEASE_SECONDS)

    async def _read(self, session: str, path: str, missing: str | None) -> str | None:
        """Return the text of *path*, None where that fails: of a task that was dropped meanwhile
        nobody would take the error, and asyncio print it."""
        reading = self._connection.read_text_file(session, path)
        try:
            return (await asyncio.wait_for(reading, _READ_SECONDS)).content
        except RequestError as error:
            return missing if error.code == _NOT_FOUND else None
        except (ConnectionError, ValidationError, TimeoutError):
            return None

    def _wait(
        self, coroutine: Coroutine[Any, Any, Answer], stop: Stop, *, is_dropped: bool = False
    ) -> Answer | None:
        """Return what *coroutine* does; None where *stop* comes first, and then it *is dropped*.

        Nothing is done any more for a client whose connection is over.
        """
        future = self._submit(coroutine)
        if future is None:
            return None
        self._wait_for(future, stop)
        if future.done():
            return future.result()
        if is_dropped:
            future.cancel()
        return None

    def _submit(self, coroutine: Coroutine[Any, Any, Answer]) -> Future[Answer] | None:
        """Begin *coroutine* in the event loop; None where that is over."""
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:  # the loop is closed
            coroutine.close()
            return None

    def _wait_for(self, future: Future[Any], stop: Stop) -> None:
        """Wait until *future* is done, *stop* is set, or the client is gone."""
        is_over = threading.Event()
        future.add_done_callback(lambda _: is_over.set())
        with stop.on_stop(is_over.set), self._gone.on_stop(is_over.set):
            is_over.wait()
