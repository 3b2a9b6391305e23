"""A request to a server that a turn waits for, and what comes of it on the way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from core.events import PersonQuestion, Reply
from modules.mcp_client.client_thread import ClientThread
from utils.text.clean import clean
from utils.waiting import Stop, Stopped

Result = TypeVar("Result")
_MAX_NOTES = 200
_MAX_NOTE = 500  # characters


@dataclass(frozen=True, slots=True)
class _Asked:
    question: PersonQuestion
    answer: Callable[[Reply | None], None]


class _Over:
    """Says that there is nothing more to wait for."""


class Channel:
    """The way from a request in the event loop to the turn that waits for it."""

    def __init__(self) -> None:
        self._items: SimpleQueue[str | _Asked | _Over] = SimpleQueue()
        self._notes = 0

    def note(self, text: str) -> None:
        """Show *text* while the turn waits; of too many the rest is dropped."""
        self._notes += 1
        if self._notes <= _MAX_NOTES and (line := clean(text).strip()):
            self._items.put(f"{line[:_MAX_NOTE]}\n")

    async def ask(self, question: PersonQuestion) -> Reply | None:
        """Return what the person answers to *question*, None when nobody does."""
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Reply | None] = loop.create_future()

        def answer(value: Reply | None) -> None:
            loop.call_soon_threadsafe(_settle, reply, value)

        self._items.put(_Asked(question, answer))
        return await reply

    def end(self) -> None:
        self._items.put(_Over())

    def get(self, seconds: float) -> str | _Asked | _Over:
        """Return what came next. Raises `TimeoutError` when nothing did in *seconds*."""
        try:
            return self._items.get(timeout=max(0.0, seconds))
        except Empty:
            raise TimeoutError from None


def _settle(reply: asyncio.Future[Reply | None], value: Reply | None) -> None:
    if not reply.done():
        reply.set_result(value)


class PendingCall(Generic[Result]):
    """A request that runs in *thread*, waited for until *stop* or for *seconds*."""

    def __init__(
        self,
        thread: ClientThread,
        request: Callable[[Channel], Coroutine[Any, Any, Result]],
        stop: Stop,
        seconds: float,
    ) -> None:
        self._channel = Channel()
        self._future: Future[Result] = thread.submit(request(self._channel))
        self._future.add_done_callback(lambda _: self._channel.end())
        self._stop = stop
        self._seconds = seconds

    def wait(self) -> Generator[str | PersonQuestion, Reply | None, Result]:
        """Yield notes and questions, and return the result; the person's time is not counted.

        Raises `Stopped`, `TimeoutError`, or what the request raises; left, it is cancelled.
        """
        deadline = time.monotonic() + self._seconds
        try:
            with self._stop.on_stop(self._channel.end):
                while True:
                    item = self._channel.get(deadline - time.monotonic())
                    if self._stop.is_set():
                        raise Stopped
                    if isinstance(item, _Over):
                        return self._result()
                    if isinstance(item, str):
                        yield item
                        continue
                    began = time.monotonic()
                    item.answer((yield item.question))
                    deadline += time.monotonic() - began
        finally:
            self._future.cancel()

    def _result(self) -> Result:
        try:
            return self._future.result(timeout=0)
        except CancelledError:
            raise ConnectionError("it was cancelled") from None
