"""Events of a helper's turn, as the call that it is yields them."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from core.events import (
    ApprovalAsked,
    Event,
    HelperEvent,
    HelperStep,
    Informed,
    Reply,
    Retrying,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Waiting,
    Warned,
)
from core.loop.turn_context import Turn
from utils.i18n import phrase
from utils.text.clean import visible

NestedTurn = Generator[HelperEvent | ApprovalAsked, Reply | None, TurnFinished]
_NAME_LENGTH = 60


def nested(turn: Turn, call_id: str, task: str) -> NestedTurn:
    """Yield what *turn*, that of the helper *call_id*, yields, and return its end.

    A question says that the helper asks that has *task*.
    """
    reply: Reply | None = None
    text: list[str] = []
    started: ToolStarted | None = None
    end = TurnFinished("interrupted")
    try:
        while True:
            event, reply = turn.send(reply), None
            if isinstance(event, TurnFinished):
                end = event
            elif isinstance(event, ApprovalAsked):
                reply = yield _asked_by(event, call_id, task, started)
            else:
                started = event if isinstance(event, ToolStarted) else started
                for step in _steps_of(event, text):
                    yield HelperEvent(call_id, step)
    except StopIteration:
        return end
    finally:
        turn.close()


def _steps_of(event: Event, text: list[str]) -> Iterator[HelperStep]:
    """Yield what *event* is for who looks on; *text* holds what is not said to its end."""
    match event:
        case TextDelta():
            text.append(event.text)
        case Retrying():
            text.clear()
            yield event
        case StepFinished():
            if said := "".join(text):
                yield TextDelta(said)
            text.clear()
            yield event
        case Informed():
            yield replace(event, command="", changes=())
        case StepStarted() | Waiting() | Warned() | ToolStarted():
            yield event
        case ToolFinished():
            yield replace(event, changes=())


def _asked_by(
    question: ApprovalAsked, call_id: str, task: str, started: ToolStarted | None
) -> ApprovalAsked:
    """Return *question* as that of the helper *call_id*, about what it wants to do.

    *started* is its last call, None for none.
    """
    first_line = visible(task.strip().partition("\n")[0])
    name = first_line if len(first_line) <= _NAME_LENGTH else f"{first_line[: _NAME_LENGTH - 1]}…"
    why = phrase("The helper for “{task}” asks: {why}", task=name, why=question.why)
    is_of_call = started is not None and started.call_id == question.call_id
    arguments = started.arguments if started and is_of_call else {}
    return replace(
        question,
        call_id=call_id,
        why=why,
        may_revise=question.may_revise and is_of_call,
        parent=call_id,
        arguments=arguments,
    )
