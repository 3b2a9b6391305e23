"""Calls of one reply that run at once: each in a thread of its own, their events in one row."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Sequence
from queue import SimpleQueue

from core.conversation.messages import ToolCall, ToolResult
from core.events import ApprovalAsked, Event, Reply
from core.loop.tool_calls import ApprovalTimer, FinishedCall, answer_call, keep_answer
from core.loop.turn_context import TurnContext
from core.tools import Toolbox, ToolError

MOST_AT_ONCE = 4
_Happened = tuple["_Worker", Event | FinishedCall | BaseException]


def calls_at_once(tools: Toolbox, pending: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the first of the *pending* calls that may run at once, `MOST_AT_ONCE` at most."""
    together: list[ToolCall] = []
    for call in pending:
        if len(together) == MOST_AT_ONCE or not _may_run_beside(tools, call):
            break
        together.append(call)
    return together


def _may_run_beside(tools: Toolbox, call: ToolCall) -> bool:
    try:
        tool = tools.find(call.name)
        if not tool.spec.at_once_unless:
            return False
        name, value = tool.spec.at_once_unless
        return tool.arguments(call).get(name) != value
    except ToolError:
        return False


class _Abandoned(Exception):
    """Nobody takes what the call yields any more."""


class _Worker(threading.Thread):
    """Runs *call* in a thread, and tells *happened* of all that it yields and how it ended."""

    def __init__(
        self, context: TurnContext, call: ToolCall, happened: SimpleQueue[_Happened]
    ) -> None:
        super().__init__(name=f"call {call.id}", daemon=True)
        self.call = call
        self._context = context
        self._happened = happened
        self._replies: SimpleQueue[Reply | None] = SimpleQueue()
        self._is_abandoned = False

    def run(self) -> None:
        try:
            self._happened.put((self, self._run_call()))
        except BaseException as error:  # noqa: BLE001 - raised where the turn runs
            self._happened.put((self, error))

    def _run_call(self) -> FinishedCall:
        running = answer_call(self._context, self.call, ApprovalTimer())
        reply: Reply | None = None
        try:
            while True:
                event = running.send(reply)
                self._happened.put((self, event))
                reply = self._replies.get() if isinstance(event, ApprovalAsked) else None
                if self._is_abandoned:
                    raise _Abandoned
        except StopIteration as finished:
            answered: FinishedCall = finished.value
            return answered
        finally:
            running.close()

    def answer(self, reply: Reply | None) -> None:
        """Go on with *reply* to the question that was put last."""
        self._replies.put(reply)

    def abandon(self) -> None:
        """Leave the call at what it yields next, or at its question."""
        self._is_abandoned = True
        self._replies.put(None)


def run_at_once(
    context: TurnContext, calls: Sequence[ToolCall], pending: deque[ToolCall], timer: ApprovalTimer
) -> Generator[Event, Reply | None, list[tuple[ToolCall, ToolResult, bool]]]:
    """Run *calls* at once; record and show each answer as it comes, its call is not *pending* then.

    Returns each call with its answer, and whether it changed files. Left early, it waits until no
    call runs any more: what was asked stays open.
    """
    happened: SimpleQueue[_Happened] = SimpleQueue()
    workers = [_Worker(context, call, happened) for call in calls]
    answers: list[tuple[ToolCall, ToolResult, bool]] = []
    failure: BaseException | None = None
    running = set(workers)
    for worker in workers:
        worker.start()
    try:
        while running:
            worker, what = happened.get()
            if isinstance(what, FinishedCall):
                running.discard(worker)
                kept = yield from keep_answer(context, worker.call, what, pending)
                answers.append((worker.call, *kept))
            elif isinstance(what, BaseException):
                running.discard(worker)
                failure = failure or what
            elif isinstance(what, ApprovalAsked):
                worker.answer((yield from timer.ask(what)))
            else:
                yield what
    finally:
        if running:
            context.stop.set()
        for worker in workers:
            worker.abandon()
        for worker in workers:
            worker.join()
    if failure:
        raise failure
    return answers
