"""A call of a client: between the event loop, which answers it, and the thread that runs it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import CallToolResult

from core.events import ApprovalAsked, Reply
from utils.waiting import Stop

QUESTION_SECONDS = 600.0
"""Seconds that a question may stay without an answer: until then every other call waits."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What happens in a call, in one line."""

    message: str


Update = Progress | ApprovalAsked | CallToolResult
"""What becomes of a call: the last one is its result."""


class PendingCall:
    """A call of the tool *name*, made in the event loop; *client* is who calls.

    It tells of *progress* only where the client wants that, and *can ask* only where it offers to.
    """

    def __init__(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        client: str = "",
        can_ask: bool = False,
        wants_progress: bool = False,
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.client = client
        self.can_ask = can_ask
        self.title = name
        """What it does now, in one line; within a task that is a call of the task's."""
        self.question: ApprovalAsked | None = None
        self.is_cancelled = False
        self.steps = 0
        """Updates of its progress that were sent."""
        self._wants_progress = wants_progress
        self._loop = asyncio.get_running_loop()
        self._updates: asyncio.Queue[Update] = asyncio.Queue()
        self._is_answered = threading.Event()
        self._reply: Reply | None = None

    # --- in the thread that runs it --------------------------------------------------------------

    def tell(self, message: str) -> None:
        if self._wants_progress:
            self._put(Progress(message))

    def ask(self, question: ApprovalAsked, stop: Stop) -> Reply | None:
        """Return the person's answer; None where nobody can be asked, or *stop* comes first."""
        if not self.can_ask:
            return None
        self._reply = None
        self._is_answered.clear()
        self._put(question)
        with stop.on_stop(self._is_answered.set):
            self._is_answered.wait(QUESTION_SECONDS)
        return self._reply

    def finish(self, result: CallToolResult) -> None:
        self._put(result)

    def _put(self, update: Update) -> None:
        try:
            self._loop.call_soon_threadsafe(self._updates.put_nowait, update)
        except RuntimeError:  # the event loop has ended: nobody waits for it
            return

    # --- in the event loop -----------------------------------------------------------------------

    async def next_update(self) -> Update:
        return await self._updates.get()

    def answer(self, reply: Reply | None) -> None:
        """Answer the question that was asked last."""
        self._reply = reply
        self._is_answered.set()
