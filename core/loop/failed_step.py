"""What the person decides where a task would end: about a step that failed, and about a plan."""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

from core.cards import TextCard
from core.conversation.messages import Context
from core.events import FAILED_STEP_CALL, Event, Reply, ToolFinished, ToolStarted
from core.feature import EndDecision
from core.loop.tool_calls import ApprovalTimer, question_event
from core.loop.turn_context import TurnContext
from core.redaction import map_strings
from utils.i18n import phrase
from utils.waiting import Stopped

_ASKS = "Onefold"
"""Who asks, in the place of a tool's name."""


def decide_failed_step(
    context: TurnContext, tool: str, step: int, timer: ApprovalTimer
) -> Generator[Event, Reply | None, Literal["goes on", "ends", "undecided"]]:
    """Ask what to do about the call of *tool* that failed; return what becomes of the task.

    It is undecided where there is nothing to ask, or nobody to answer. Raises `Stopped`.
    """
    failed = context.features.failed_step(tool)
    if failed is None:
        return "undecided"
    return (yield from ask_at_end(context, f"{FAILED_STEP_CALL}{step}", failed, timer))


def ask_at_end(
    context: TurnContext, call_id: str, asked: EndDecision, timer: ApprovalTimer
) -> Generator[Event, Reply | None, Literal["goes on", "ends", "undecided"]]:
    """Put a question where a task would end; return what becomes of the task. Raises `Stopped`."""
    yield ToolStarted(call_id, _ASKS, {})
    waited_before = timer.seconds
    reply = yield from timer.ask(question_event(call_id, _ASKS, asked.question))
    seconds = timer.seconds - waited_before
    if context.stop.is_set():
        card = TextCard(phrase("Interrupted."))
        yield ToolFinished(call_id, _ASKS, "stopped", card, seconds)
        raise Stopped
    answer = None if reply is None else reply.text.strip() if reply.yes else ""
    decided = asked.decide(answer)
    outcome = map_strings(decided.outcome, context.features.redact)
    context.on_files_changed(outcome)
    yield ToolFinished(call_id, _ASKS, "done", outcome.card, seconds, outcome.changes)
    if not decided.goes_on:
        return "ends" if answer else "undecided"
    context.record(Context(outcome.text))
    return "goes on"
