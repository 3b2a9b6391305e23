"""Calls without a model, which a person or a program makes of tools: in a turn of their own.

They are asked about, recorded for undo, shown and taken back like the model's.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Sequence
from dataclasses import replace
from typing import Protocol

from core.conversation.history import History
from core.conversation.messages import Assistant, ShellResult, ToolCall, User
from core.events import Event, Reply, TurnFinished, TurnStarted, Warned
from core.loop.tool_calls import ApprovalTimer, FinishedCall, answer_call
from core.loop.turn_context import Turn, TurnContext
from core.redaction import map_strings
from utils.i18n import phrase
from utils.llm.completion import DIRECT_CALL


class DirectContext(TurnContext, Protocol):
    """Everything that such calls need of their terminal."""

    @property
    def history(self) -> History: ...


def run_direct_calls(
    context: DirectContext,
    line: str,
    calls: Sequence[ToolCall],
    results: list[FinishedCall],
    *,
    is_private: bool,
) -> Turn:
    """Run *calls* in the turn that has begun, which *line* is the name of; fill *results*.

    What comes after a stop is not run, and has no result. The model later reads of the calls as of
    its own, of those that are *is_private* nothing.
    """
    line = map_strings(line, context.features.redact)
    turn = context.history.turn
    context.record(User(line, is_private=is_private))
    yield TurnStarted(line, turn)
    run = _run_private if is_private else _run_for_model
    for call in calls:
        if context.stop.is_set():
            break
        answered = yield from run(context, replace(call, id=f"{DIRECT_CALL}{turn}-{call.id}"))
        results.append(map_strings(answered, context.features.redact))
    is_stopped = context.stop.is_set()
    finished = TurnFinished(
        "stopped" if is_stopped else "done",
        phrase("Stopped.") if is_stopped else None,
        context.helper_usage,
        seconds=sum(answered.result.seconds for answered in results),
    )
    context.on_turn_finished(finished)
    proof = context.proof()
    yield replace(finished, receipts=proof.receipts, checks=proof.checks, claims=proof.claims)


def run_message_calls(
    context: DirectContext, text: str, given: Collection[str]
) -> Generator[Event, Reply | None, None]:
    """Run the calls that *text*, the message of the turn that has begun, asks for.

    *given* names the pictures that it has. What comes after a stop is not run.
    """
    found = context.features.calls_for(text, given)
    for problem in found.problems:
        yield Warned(problem)
    for call in found.calls:
        if context.stop.is_set():
            break
        yield from _run_for_message(context, replace(call, id=f"{call.id}-{context.history.turn}"))


def _run_for_model(
    context: DirectContext, call: ToolCall
) -> Generator[Event, Reply | None, FinishedCall]:
    """Run *call*, and keep it as the model's own are kept, answered whatever happens."""
    context.record(Assistant("", calls=(call,)))
    answered: FinishedCall | None = None
    try:
        answered = yield from answer_call(context, call, ApprovalTimer())
        context.record(answered.result)
    finally:
        if answered is None:
            context.on_abandoned([call])
    yield answered.finished()
    return answered


def _run_private(
    context: DirectContext, call: ToolCall
) -> Generator[Event, Reply | None, FinishedCall]:
    """Run *call*, and keep it for people alone."""
    answered = yield from answer_call(context, call, ApprovalTimer())
    context.record(replace(_as_data(answered), is_private=True))
    yield answered.finished()
    return answered


def _run_for_message(context: DirectContext, call: ToolCall) -> Generator[Event, Reply | None]:
    """Run *call*, and keep its answer beside the message.

    It is no call of the model's: some servers take those back only as they signed them, and think
    no more in a turn that begins with others.
    """
    answered = yield from answer_call(context, call, ApprovalTimer())
    arguments = json.dumps(dict(answered.arguments), ensure_ascii=False)
    read = replace(call, arguments=arguments)
    context.record(replace(_as_data(answered), read=read, pictures=answered.result.pictures))
    yield answered.finished()


def _as_data(answered: FinishedCall) -> ShellResult:
    """Return what is kept of a call that is no call of the model's."""
    result = answered.result
    shown = f"{result.name} {json.dumps(dict(answered.arguments), ensure_ascii=False)}"
    return ShellResult(
        *(result.call_id, shown, result.text, result.state, answered.outcome.card, result.seconds),
        error_code=result.error_code,
    )
