"""Questions of features beside the calls: put to the person before the model is asked."""

from __future__ import annotations

from collections.abc import Generator

from core.cards import TextCard
from core.conversation.messages import ResultState
from core.events import ApprovalAsked, Event, Reply, ToolFinished, ToolStarted
from core.feature import Answer, Question
from core.loop.tool_calls import ApprovalTimer
from core.loop.turn_context import TurnContext
from core.redaction import map_strings
from utils.waiting import Stopped

QUESTION_RISK = "told"
"""The `ApprovalAsked.risk` of a question about what the model is to be told."""


def ask_questions(
    context: TurnContext, timer: ApprovalTimer
) -> Generator[Event, Reply | None, None]:
    """Put what features have to ask, each as a call of its own on the screens; none is recorded.

    In the mode "all" the answer is yes, and nobody is asked. Raises `Stopped`.
    """
    for question in context.features.questions():
        if context.approval.mode == "all":
            question.answer("allowed")
        else:
            yield from ask_question(context, question, timer)


def ask_question(
    context: TurnContext,
    question: Question,
    timer: ApprovalTimer,
    *,
    state_of_no: ResultState = "failed",
) -> Generator[Event, Reply | None, Answer]:
    """Put *question*; return the answer, which shows as *state_of_no* where it is no yes."""
    shown = map_strings(question, context.features.redact)
    yield ToolStarted(question.id, shown.subject, {"path": shown.path})
    waited_before = timer.seconds
    reply = yield from timer.ask(
        ApprovalAsked(question.id, shown.subject, QUESTION_RISK, shown.why, "", shown.card)
    )
    if context.stop.is_set():
        yield ToolFinished(question.id, shown.subject, "stopped", shown.card, 0.0)
        raise Stopped
    answer: Answer = "nobody" if reply is None else "yes" if reply.yes else "no"
    what = question.answer(answer)
    state: ResultState = "done" if answer == "yes" else state_of_no
    seconds = timer.seconds - waited_before
    yield ToolFinished(question.id, shown.subject, state, TextCard(what), seconds)
    return answer
