"""Running the calls of a reply: approval, the tool itself, its outcome, and one result each."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from core.cards import TextCard
from core.conversation.history import ASKED
from core.conversation.messages import ResultState, StateRecord, ToolCall, ToolResult
from core.conversation.result_texts import FAILED_PREFIX, NOT_RUN_TEXT, STOPPED_TEXT
from core.events import (
    ApprovalAsked,
    Event,
    HelperEvent,
    Informed,
    PersonQuestion,
    Reply,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    Warned,
)
from core.feature import HookVerdict, PostRunConfirmation
from core.loop.approval import Decision, pattern_for
from core.loop.approval_flow import (
    check_lasting,
    not_run_outcome,
    refusal,
    resolve_approval,
    with_revision_note,
)
from core.loop.hook_runs import denied_outcome, run_call_hooks, with_hooks_said
from core.loop.turn_context import TurnContext
from core.redaction import Redactor, StreamRedactor, map_strings
from core.tools import Outcome, RunningTool, Tool, ToolError, failure_outcome
from utils.error_codes import ErrorCode
from utils.i18n import Phrase, Text, UserError, phrase
from utils.waiting import Stopped


@dataclass(frozen=True, slots=True)
class _CallOutcome:
    """How a call ended; *revised* is what the person put in the place of its arguments."""

    state: ResultState
    outcome: Outcome
    revised: dict[str, Any] | None = None


class ApprovalTimer:
    """Asks the person, and counts the *seconds* that this takes: nobody works in them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def ask(self, question: ApprovalAsked) -> Generator[Event, Reply | None, Reply | None]:
        started_at = time.monotonic()
        reply = yield question
        self.seconds += time.monotonic() - started_at
        return reply and _as_chosen(question, reply)


def _as_chosen(question: ApprovalAsked, reply: Reply) -> Reply:
    """Return *reply* with the choice of *question* that its words are, whatever their case."""
    said = reply.text.strip().casefold()
    chosen = next((one for one in map(str, question.choices) if one.casefold() == said), reply.text)
    return replace(reply, text=chosen)


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """The *result* of a call for the record, its *outcome*, and the *arguments* it ran with."""

    result: ToolResult
    outcome: Outcome
    arguments: Mapping[str, Any]

    def finished(self) -> ToolFinished:
        """Return the event that shows it, once it is recorded."""
        result, outcome = self.result, self.outcome
        return ToolFinished(
            *(result.call_id, result.name, result.state, outcome.card, result.seconds),
            *(outcome.changes, result.error_code),
        )


def run_call(
    context: TurnContext, call: ToolCall, pending: deque[ToolCall], timer: ApprovalTimer
) -> Generator[Event, Reply | None, tuple[ToolResult, bool]]:
    """Run *call*, record its answer, take it off *pending*, and only then show that it is over.

    Returns the answer, and whether files changed. *timer* asks the person.
    """
    answered = yield from answer_call(context, call, timer)
    return (yield from keep_answer(context, call, answered, pending))


def keep_answer(
    context: TurnContext, call: ToolCall, answered: FinishedCall, pending: deque[ToolCall]
) -> Generator[Event, Reply | None, tuple[ToolResult, bool]]:
    """Record the answer of *call*, take it off *pending*, and only then show that it is over.

    Returns the answer, and whether files changed.
    """
    pending.remove(call)
    context.record(answered.result)
    yield answered.finished()
    return answered.result, bool(answered.outcome.changes)


def answer_call(
    context: TurnContext, call: ToolCall, timer: ApprovalTimer
) -> Generator[Event, Reply | None, FinishedCall]:
    """Run *call* and return its answer, which is to be recorded and then shown."""
    started_at, waited_before = time.monotonic(), timer.seconds
    arguments: Mapping[str, Any] = {}
    try:
        tool = context.tools.find(call.name)
        arguments = tool.arguments(call)
    except ToolError as error:
        yield ToolStarted(call.id, call.name, {})
        call_outcome = _CallOutcome("failed", failure_outcome(error))
    else:
        tier = context.features.run_tier(tool, arguments)
        yield ToolStarted(call.id, call.name, arguments, tier=tier)
        call_outcome = yield from _run_if_approved(context, tool, call.id, arguments, timer)
    seconds = time.monotonic() - started_at - (timer.seconds - waited_before)
    state, outcome, revised = call_outcome.state, call_outcome.outcome, call_outcome.revised
    result = ToolResult(
        *(call.id, call.name, outcome.text, state, outcome.card, seconds, revised),
        pictures=outcome.pictures,
        error_code=error_code(state, outcome),
    )
    return FinishedCall(result, outcome, revised or arguments)


def error_code(state: ResultState, outcome: Outcome) -> ErrorCode | None:
    """Return what programs are told of a call that ended in *state* with *outcome*."""
    match state:
        case "refused":
            return "refused"
        case "failed":
            return outcome.error_code or "internal"
        case _:
            return None


def run_apart(
    context: TurnContext,
    tool: Tool,
    call_id: str,
    arguments: Mapping[str, Any],
    timer: ApprovalTimer,
) -> Generator[Event, Reply | None, tuple[ResultState, Outcome]]:
    """Run a call that is the model's no more than its result: nothing of it is recorded."""
    started_at, waited_before = time.monotonic(), timer.seconds
    yield ToolStarted(call_id, tool.name, dict(arguments))
    done = yield from _run_if_approved(context, tool, call_id, arguments, timer)
    seconds = time.monotonic() - started_at - (timer.seconds - waited_before)
    outcome, code = done.outcome, error_code(done.state, done.outcome)
    yield ToolFinished(call_id, tool.name, done.state, outcome.card, seconds, outcome.changes, code)
    return done.state, outcome


def _run_if_approved(
    context: TurnContext,
    tool: Tool,
    call_id: str,
    arguments: Mapping[str, Any],
    timer: ApprovalTimer,
) -> Generator[Event, Reply | None, _CallOutcome]:
    """Run the tool if it may run; a stop and a refusal are outcomes too."""
    if context.stop.is_set():
        return _CallOutcome("stopped", _stopped_outcome())
    decision = context.approval.decide(tool, arguments, was_asked=context.was_asked(call_id))
    reply: Reply | None = None
    final_arguments = arguments
    if decision.verdict == "ask":
        try:
            reply, final_arguments = yield from _ask(
                context, tool, call_id, arguments, decision, timer
            )
        except ToolError as error:  # it cannot be done, so nobody is asked
            return _CallOutcome("failed", failure_outcome(error))
        if context.stop.is_set():
            return _CallOutcome("stopped", _stopped_outcome())
    if decision.verdict == "refuse" or (decision.verdict == "ask" and not (reply and reply.yes)):
        return _CallOutcome("refused", refusal(decision, reply))
    if reply and reply.always:
        context.approval.allow_always(reply.pattern or pattern_for(tool, final_arguments))
    if final_arguments is arguments:
        return _CallOutcome(*(yield from _run_tool(context, tool, call_id, arguments, timer)))
    revised = map_strings(dict(final_arguments), context.features.redact)
    tier = context.features.run_tier(tool, final_arguments)
    yield ToolStarted(call_id, tool.name, revised, is_revised=True, tier=tier)
    state, outcome = yield from _run_tool(context, tool, call_id, final_arguments, timer)
    return _CallOutcome(state, with_revision_note(outcome, arguments, revised), revised)


def _ask(
    context: TurnContext,
    tool: Tool,
    call_id: str,
    arguments: Mapping[str, Any],
    decision: Decision,
    timer: ApprovalTimer,
) -> Generator[Event, Reply | None, tuple[Reply | None, Mapping[str, Any]]]:
    """Ask the person until the answer is one that can be; return it and what is to be run.

    That the question is open is kept: when we end before the answer, it is asked again.
    """
    why = decision.why
    while True:
        card = context.features.preview(tool, arguments)
        question = ApprovalAsked(
            *(call_id, tool.name, str(tool.risk), why, decision.pattern, card),
            may_revise=bool(arguments),
            may_last=decision.may_last,
        )
        context.record(StateRecord(ASKED, call_id))
        reply = yield from timer.ask(question)
        context.record(StateRecord(ASKED, ""))
        if reply is None or not reply.yes or context.stop.is_set():
            return reply, arguments
        try:
            if reply.always and not decision.pattern:
                raise UserError(
                    phrase("This is asked every time; “yes” applies to this call only.")
                )
            resolved = resolve_approval(reply, tool, arguments)
            if reply.lasts:
                check_lasting(reply, decision)
                context.approval.keep(tool, decision)
            return reply, resolved
        except (ToolError, UserError) as error:
            why = phrase("{problem}", problem=error.message)


def _run_tool(
    context: TurnContext,
    tool: Tool,
    call_id: str,
    arguments: Mapping[str, Any],
    timer: ApprovalTimer,
) -> Generator[Event, Reply | None, tuple[ResultState, Outcome]]:
    try:
        context.before_call(tool, call_id)
    except UserError as error:  # what it does could not be undone: it does not run
        return "refused", not_run_outcome(
            f"{FAILED_PREFIX} {error.message}", phrase("Refused"), error.message
        )
    before = yield from run_call_hooks(context, "PreToolUse", tool, arguments)
    if before.denial:
        outcome = denied_outcome(before)
    elif context.stop.is_set():
        outcome = with_hooks_said(_stopped_outcome(), before, HookVerdict())
    else:
        unredacted = context.features.unredact(tool, arguments)
        running = context.tools.run(tool, unredacted, call_id)
        asking = partial(_ask_for_tool, context, tool, call_id, timer)
        outcome = yield from stream_output(context.features, call_id, running, asking, timer)
        after = yield from run_call_hooks(context, "PostToolUse", tool, arguments, outcome.text)
        outcome = with_hooks_said(outcome, before, after)
    final = yield from _finish_call(context, tool, call_id, outcome, timer)
    yield from notices(context)
    if final is not outcome or before.denial:
        return "refused", map_strings(final, context.features.redact)
    outcome = map_strings(outcome, context.features.redact)
    if context.stop.is_set() and not outcome.ok:
        return "stopped", outcome
    if outcome.error_code == "refused":
        return "refused", outcome
    return ("done" if outcome.ok else "failed"), outcome


Asking = Callable[[PersonQuestion], Generator[Event, Reply | None, Reply | None]]
"""Asks the person what a tool wants to know; None when nobody is there."""


def _ask_for_tool(
    context: TurnContext, tool: Tool, call_id: str, timer: ApprovalTimer, question: PersonQuestion
) -> Generator[Event, Reply | None, Reply | None]:
    """Ask what *tool* wants to know; kept as open where the call may be run once more for it."""
    may_run_again = tool.spec.asks_person or tool.spec.runs_turn
    if may_run_again:
        context.record(StateRecord(ASKED, call_id))
    reply = yield from timer.ask(question_event(call_id, tool.name, question))
    if may_run_again:
        context.record(StateRecord(ASKED, ""))
    if context.stop.is_set():
        raise Stopped
    return reply


def question_event(call_id: str, name: str, question: PersonQuestion) -> ApprovalAsked:
    """Return the event that puts *question*, its choices numbered, for the call of *name*."""
    return ApprovalAsked(
        *(call_id, name, "question", phrase("{text}", text=question.text), ""),
        preview=question.card or TextCard("", numbered(question.choices)),
        choices=question.choices,
    )


def numbered(choices: Sequence[Text]) -> Phrase:
    """Return the lines of *choices*, each with its number."""
    values = {f"choice{n}": choice for n, choice in enumerate(choices, 1)}
    return Phrase("\n".join(f"{n}  {{{name}}}" for n, name in enumerate(values, 1)), values)


def stream_output(
    redactor: Redactor,
    call_id: str,
    running: RunningTool,
    asking: Asking | None = None,
    timer: ApprovalTimer | None = None,
) -> Generator[Event, Reply | None, Outcome]:
    """Yield what *running* puts out, without what nobody may see, and return its outcome.

    What it wants to know of the person is asked by *asking*; without, nobody is there. What is
    asked in a turn that it runs is asked by *timer*.
    """
    stream = StreamRedactor(redactor)
    reply: Reply | None = None
    try:
        while True:
            item, reply = running.send(reply), None
            if isinstance(item, PersonQuestion):
                reply = (yield from asking(item)) if asking else None
            elif isinstance(item, ApprovalAsked):
                reply = (yield from timer.ask(item)) if timer else None
            elif isinstance(item, HelperEvent):
                yield item
            elif text := stream.add(item):
                yield ToolOutput(call_id, text)
    except StopIteration as finished:
        outcome: Outcome = finished.value
    except Stopped:
        outcome = not_run_outcome(STOPPED_TEXT, phrase("Interrupted."), "")
    finally:
        running.close()
    if tail := stream.flush():
        yield ToolOutput(call_id, tail)
    return outcome


def _finish_call(
    context: TurnContext, tool: Tool, call_id: str, outcome: Outcome, timer: ApprovalTimer
) -> Generator[Event, Reply | None, Outcome]:
    """Report what a call did, and let the person decide about it where that must be confirmed.

    Returns *outcome* itself, or another one if what the call did is not wanted.
    """
    try:
        context.after_call(tool, call_id)
        asks_nothing = context.approval.mode == "all"
        confirmation = context.features.confirm_after(tool, call_id, context.stop)
        if confirmation and not (asks_nothing and confirmation.kind == "loss"):
            question = ApprovalAsked(
                *(call_id, tool.name, confirmation.kind),
                *(_choice_after(confirmation.what), "", confirmation.card),
            )
            reply = None if asks_nothing else (yield from timer.ask(question))
            if reply is None or not reply.yes:
                outcome = yield from _revert(confirmation, outcome, reply)
        context.on_files_changed(outcome)
    except UserError as error:  # it did run: its answer counts, and the person is told
        yield Warned(error.message)
    return outcome


def _choice_after(what: Phrase) -> Phrase:
    return phrase("{what} Yes keeps its changes; no undoes all of them.", what=what)


_REVERT_REASONS = {
    "loss": (
        "nobody was there to say whether to keep that",
        "the person did not want what it deleted to be gone",
    ),
    "protected": ("nobody said that this may be kept", "it changed what a note protects"),
}
"""Why what a call did is put back, for the model: without an answer, and after a no."""


def _revert(
    confirmation: PostRunConfirmation, outcome: Outcome, reply: Reply | None
) -> Generator[Event, Reply | None, Outcome]:
    """Put back what the call did; return what the model reads of that."""
    unanswered, refused = _REVERT_REASONS[confirmation.kind]
    why = unanswered if reply is None else reply.reason.strip() or refused
    try:
        confirmation.revert()
    except UserError as error:
        yield Warned(error.message)
        text = f"What this call did to the files was to be put back ({why}). {error.message}"
        return replace(outcome, text=f"{outcome.text}\n{text}", ok=False)
    undone = phrase("All its file changes were undone.")
    text = f"All that this call did to the files was put back: {why}."
    if reply is None:  # nobody has read what the question said
        undone = phrase("{what} {undone}", what=confirmation.what, undone=undone)
        text = f"{confirmation.what} {text}"
    yield Warned(undone)
    return replace(outcome, text=f"{outcome.text}\n{text}", ok=False, changes=())


def notices(context: TurnContext) -> Iterator[Event]:
    """Yield the warnings and the news that the person has not seen yet."""
    for warning in context.warnings():
        yield Warned(warning)
    for what in context.features.news():
        yield Informed(what)


def _stopped_outcome() -> Outcome:
    return not_run_outcome(NOT_RUN_TEXT, phrase("Not run"), phrase("Stopped."))
