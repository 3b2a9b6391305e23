"""Messages of JSON-RPC, one on a line, on two file descriptors.

What is no such message is answered here, and the SDK of the protocol never sees it: those in use
only log what they cannot read, or are at their end after it.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Message = dict[str, Any]
MAX_LINE_BYTES = 64 * 2**20
"""Bytes of one message: some pictures in a prompt, and no more than can be held."""
_CHUNK_BYTES = 2**16
_LAST_ANSWERS_SECONDS = 2.0
"""Seconds in which the last answers may leave when the client closed its end."""


_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_MESSAGES = {_PARSE_ERROR: "Parse error", _INVALID_REQUEST: "Invalid request"}


class JsonLines:
    """Reads from the descriptor *source* and writes to *sink*, each in a thread of its own.

    Make it in the event loop.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._source, self._sink = source, sink
        self._incoming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._outgoing: SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = SimpleQueue()
        self._unanswered = 0
        self._all_answered = asyncio.Event()
        self._all_answered.set()
        self._is_closed = False
        threading.Thread(target=self._read, name="stdio-read", daemon=True).start()
        threading.Thread(target=self._write, name="stdio-write", daemon=True).start()

    # --- messages --------------------------------------------------------------------------------

    async def receive(self) -> Message | None:
        """Return the next message that is one, or None at the end of them."""
        while (line := await self._incoming.get()) is not None:
            message = self._checked(line)
            if message is not None:
                if "id" in message and "method" in message:
                    self._unanswered += 1
                    self._all_answered.clear()
                return message
        return None

    async def send(self, message: Message) -> None:
        """Send *message* behind those before. Raises `ConnectionError` when nobody reads."""
        sent: asyncio.Future[None] = self._loop.create_future()
        if self._is_closed:
            raise ConnectionError("the client went away")
        self._outgoing.put((_line_of(message), sent))
        try:
            await sent
        finally:
            if "method" not in message:
                self._note_answer()

    async def close(self) -> None:
        self._is_closed = True
        self._outgoing.put(None)

    async def wait_for_answers(self) -> None:
        """Wait until every request was answered, a short time at most."""
        try:
            await asyncio.wait_for(self._all_answered.wait(), _LAST_ANSWERS_SECONDS)
        except TimeoutError:
            return

    def _note_answer(self) -> None:
        self._unanswered = max(0, self._unanswered - 1)
        if not self._unanswered:
            self._all_answered.set()

    # --- what comes in ---------------------------------------------------------------------------

    def _checked(self, line: bytes) -> Message | None:
        """Return the message that *line* is; None where it was answered here."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._send_error(None, _PARSE_ERROR)
            return None
        if (problem := _problem(message)) is not None:
            self._send_error(_id_of(message), _INVALID_REQUEST, problem)
            return None
        result: Message = message
        return result

    def refuse(self, message: Message, problem: str) -> None:
        """Answer *message*, which was received, with the *problem* that it has."""
        self._send_error(_id_of(message), _INVALID_REQUEST, problem)
        if "id" in message and "method" in message:
            self._note_answer()

    def _send_error(self, request_id: str | int | None, code: int, problem: str = "") -> None:
        if self._is_closed:
            return
        sent: asyncio.Future[None] = self._loop.create_future()
        details = {"details": problem} if problem else None
        error = {"code": code, "message": _MESSAGES[code], "data": details}
        answer = {"jsonrpc": "2.0", "id": request_id, "error": error}
        self._outgoing.put((_line_of(answer), sent))

    def _read(self) -> None:
        """Hand each line to the event loop, also the last one without its newline."""
        parts: list[bytes] = []
        size = 0
        while chunk := self._next_chunk():
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                size += len(line)
                self._hand_over(b"".join([*parts, line]) if size <= MAX_LINE_BYTES else b"!")
                parts, size = [], 0
            size += len(rest)
            if size > MAX_LINE_BYTES:  # it is answered as what cannot be read, once it ends
                parts = []
            elif rest:
                parts.append(rest)
        self._hand_over(b"".join(parts))
        self._call(self._incoming.put_nowait, None)

    def _next_chunk(self) -> bytes:
        try:
            return os.read(self._source, _CHUNK_BYTES)
        except OSError:  # the other end is gone
            return b""

    def _hand_over(self, line: bytes) -> None:
        if line.strip():
            self._call(self._incoming.put_nowait, line)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the event loop has ended: nobody waits for it
            return

    # --- what goes out ---------------------------------------------------------------------------

    def _write(self) -> None:
        failure: OSError | None = None
        while (item := self._outgoing.get()) is not None:
            line, sent = item
            try:
                if failure is None:
                    _write_all(self._sink, line)
            except OSError as error:
                failure = error
                self._call(self._incoming.put_nowait, None)
            self._call(_settle, sent, failure)


def _id_of(message: object) -> str | int | None:
    """Return the id of *message*, None where it has none that can be one."""
    request_id = message.get("id") if isinstance(message, dict) else None
    is_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    return request_id if is_id else None


def _problem(message: object) -> str | None:
    """Return what keeps *message* from being one of JSON-RPC, None where nothing does."""
    if not isinstance(message, dict):
        return "a message is a JSON object"
    if "method" not in message:
        is_answer = "id" in message and ("result" in message or "error" in message)
        if not is_answer:
            return "a message has a method, or is an answer"
        if isinstance(message["id"], dict | list):
            return "an id is a string or a number"
        error = message.get("error")
        return None if error is None or isinstance(error, dict) else "an error is an object"
    if not isinstance(message["method"], str):
        return "a method is a string"
    request_id = message.get("id", 0)
    if isinstance(request_id, bool) or not isinstance(request_id, str | int | None):
        return "an id is a string or a whole number"
    if not isinstance(message.get("params", {}), dict | list | None):
        return "params is an object"
    return None


def _line_of(message: Message) -> bytes:
    """Return *message* on one line; what is no JSON in it, as in errors of pydantic, as text."""
    return json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _settle(sent: asyncio.Future[None], failure: OSError | None) -> None:
    if sent.done():
        return
    if failure is None:
        sent.set_result(None)
    else:
        sent.set_exception(ConnectionError(str(failure)))
