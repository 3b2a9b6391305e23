"""Running the calls of a reply: leave, the tool itself, what came of it, and one answer each."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.conversation.history import ASKED
from core.conversation.messages import AnswerState, StateRecord, ToolCall, ToolResult
from core.events import ApprovalAsked, Event, Reply, ToolFinished, ToolOutput, ToolStarted, Warned
from core.feature import PostRunConfirmation
from core.loop.approval import Decision, pattern_for
from core.loop.approval_flow import agreed, not_run, refusal, told_of_change
from core.loop.turn_context import TurnContext
from core.redaction import Stream, mapped
from core.tools import FAILED, Outcome, Tool, ToolError, failed
from utils.i18n import UserError, phrase
from utils.waiting import Stopped


@dataclass(frozen=True, slots=True)
class _Done:
    """How a call ended; *revised* is what the person put in the place of its arguments."""

    state: AnswerState
    outcome: Outcome
    revised: dict[str, Any] | None = None


class ApprovalTimer:
    """Asks the person, and counts the *seconds* that this takes: nobody works in them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def ask(self, question: ApprovalAsked) -> Generator[Event, Reply | None, Reply | None]:
        began = time.monotonic()
        reply = yield question
        self.seconds += time.monotonic() - began
        return reply


def run_call(
    host: TurnContext, call: ToolCall, waiting: deque[ToolCall], wait: ApprovalTimer
) -> Generator[Event, Reply | None, tuple[ToolResult, bool]]:
    """Run *call*, record its answer, take it off *waiting*, and only then show that it is over.

    Returns the answer, and whether files changed. *wait* asks the person.
    """
    began, waited = time.monotonic(), wait.seconds
    try:
        tool = host.tools.find(call.name)
        arguments = tool.arguments(call)
    except ToolError as error:
        yield ToolStarted(call.id, call.name, {})
        done = _Done("failed", failed(error.what))
    else:
        yield ToolStarted(call.id, call.name, arguments)
        done = yield from _with_leave(host, tool, call.id, arguments, wait)
    seconds = time.monotonic() - began - (wait.seconds - waited)
    state, outcome = done.state, done.outcome
    answer = ToolResult(
        *(call.id, call.name, outcome.text, state, outcome.card, seconds, done.revised),
        pictures=outcome.pictures,
    )
    waiting.popleft()
    host.record(answer)
    yield ToolFinished(call.id, call.name, state, outcome.card, seconds, outcome.changes)
    return answer, bool(outcome.changes)


def _with_leave(
    host: TurnContext, tool: Tool, call_id: str, arguments: Mapping[str, Any], wait: ApprovalTimer
) -> Generator[Event, Reply | None, _Done]:
    """Run the tool if it may run; a stop and a refusal are outcomes too."""
    if host.stop.is_set():
        return _Done("stopped", _stopped())
    leave = host.approval.judge(tool, arguments, was_asked=host.was_asked(call_id))
    reply: Reply | None = None
    ran = arguments
    if leave.verdict == "ask":
        try:
            reply, ran = yield from _ask(host, tool, call_id, arguments, leave, wait)
        except ToolError as error:  # it cannot be done, so nobody is asked
            return _Done("failed", failed(error.what))
        if host.stop.is_set():
            return _Done("stopped", _stopped())
    if leave.verdict == "refuse" or (leave.verdict == "ask" and not (reply and reply.yes)):
        return _Done("refused", refusal(leave, reply))
    if reply and reply.always:
        host.approval.always(reply.pattern or pattern_for(tool, ran))
    if ran is arguments:
        return _Done(*(yield from _run(host, tool, call_id, arguments, wait)))
    revised = mapped(dict(ran), host.features.blind)
    yield ToolStarted(call_id, tool.name, revised, is_revised=True)
    state, outcome = yield from _run(host, tool, call_id, ran, wait)
    return _Done(state, told_of_change(outcome, arguments, revised), revised)


def _ask(
    host: TurnContext,
    tool: Tool,
    call_id: str,
    arguments: Mapping[str, Any],
    leave: Decision,
    wait: ApprovalTimer,
) -> Generator[Event, Reply | None, tuple[Reply | None, Mapping[str, Any]]]:
    """Ask the person until the answer is one that can be; return it and what is to be run.

    That the question is open is kept: when we end before the answer, it is asked again.
    """
    why = leave.why
    while True:
        card = host.features.preview(tool, arguments)
        question = ApprovalAsked(
            call_id, tool.name, str(tool.risk), why, leave.pattern, card, bool(arguments)
        )
        host.record(StateRecord(ASKED, call_id))
        reply = yield from wait.ask(question)
        host.record(StateRecord(ASKED, ""))
        if reply is None or not reply.yes or host.stop.is_set():
            return reply, arguments
        try:
            if reply.always and not leave.pattern:
                raise UserError(
                    phrase("This is asked about each time; yes is for this call alone.")
                )
            return reply, agreed(reply, tool, arguments)
        except (ToolError, UserError) as error:
            why = phrase("{problem}", problem=error.what)


def _run(
    host: TurnContext, tool: Tool, call_id: str, arguments: Mapping[str, Any], wait: ApprovalTimer
) -> Generator[Event, Reply | None, tuple[AnswerState, Outcome]]:
    try:
        host.before_call(tool, call_id)
    except UserError as problem:  # what it does could not be undone: it does not run
        return "refused", not_run(f"{FAILED} {problem.what}", phrase("Refused"), problem.what)
    running = host.tools.run(tool, host.features.reveal(tool, arguments))
    stream = Stream(host.features)
    try:
        while True:
            if text := stream.add(next(running)):
                yield ToolOutput(call_id, text)
    except StopIteration as finished:
        outcome: Outcome = finished.value
    except Stopped:
        text = "The person stopped the task while this ran."
        outcome = not_run(text, phrase("Broken off."), "")
    finally:
        running.close()
    if rest := stream.end():
        yield ToolOutput(call_id, rest)
    kept = yield from _settle(host, tool, call_id, outcome, wait)
    for warning in host.warnings():
        yield Warned(warning)
    if kept is not outcome:
        return "refused", mapped(kept, host.features.blind)
    outcome = mapped(outcome, host.features.blind)
    if host.stop.is_set() and not outcome.ok:
        return "stopped", outcome
    return ("done" if outcome.ok else "failed"), outcome


def _settle(
    host: TurnContext, tool: Tool, call_id: str, outcome: Outcome, wait: ApprovalTimer
) -> Generator[Event, Reply | None, Outcome]:
    """Let the house know what a call did, and the person decide about it where there is doubt.

    Returns *outcome* itself, or another one if what the call did is not wanted.
    """
    try:
        host.after_call(tool, call_id)
        doubt = None if host.approval.mode == "all" else host.features.confirm_after(tool, call_id)
        if doubt:
            question = ApprovalAsked(call_id, tool.name, "loss", doubt.why, "", doubt.card)
            reply = yield from wait.ask(question)
            if reply is None or not reply.yes:
                outcome = yield from _put_back(doubt, outcome, reply)
        host.follow(outcome)
    except UserError as problem:  # it did run: its answer counts, and the person is told
        yield Warned(problem.what)
    return outcome


def _put_back(
    doubt: PostRunConfirmation, outcome: Outcome, reply: Reply | None
) -> Generator[Event, Reply | None, Outcome]:
    """Put back what the call did; return what the model reads of that."""
    if reply is None:
        why = "it deleted much, and nobody was there to say whether to keep that"
    else:
        why = reply.reason.strip() or "the person did not want what it deleted to be gone"
    try:
        doubt.put_back()
    except UserError as problem:
        yield Warned(problem.what)
        text = f"What this call did to the files was to be put back ({why}). {problem.what}"
        return replace(outcome, text=f"{outcome.text}\n{text}", ok=False)
    yield Warned(phrase("All that it did to the files was put back."))
    text = f"All that this call did to the files was put back: {why}."
    return replace(outcome, text=f"{outcome.text}\n{text}", ok=False, changes=())


def _stopped() -> Outcome:
    return not_run("Not run: the person stopped the task.", phrase("Not run"), phrase("Stopped."))
