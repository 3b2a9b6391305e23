"""One turn: from a person's message to the model's last word.

`run_turn` is a generator. It yields events and, where it needs a person, takes the reply that is
sent back in. It prints nothing and opens nothing; whoever drives it decides what the events look
like. The same loop serves the terminal, the browser, `-p` and the tests.
"""

from __future__ import annotations

import itertools
import json
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.cards import TextCard
from core.conversation.history import History, usage_record
from core.conversation.messages import Assistant, Context, Effort, ToolCall, ToolResult
from core.events import (
    ApprovalAsked,
    EndReason,
    Event,
    Reply,
    StepFinished,
    StepStarted,
    ThoughtKept,
    TurnFinished,
    Warned,
)
from core.loop.calls_at_once import calls_at_once, run_at_once
from core.loop.depth import STANDARD, Route
from core.loop.failed_step import decide_failed_step
from core.loop.hook_runs import may_end
from core.loop.loop_detection import LoopDetector
from core.loop.nudges import Nudges, ask_whether_done
from core.loop.plan_end import is_plan_approved
from core.loop.project_checks import checks_pass
from core.loop.questions import ask_questions
from core.loop.response import ReplyRead, read_reply
from core.loop.spending import before_step
from core.loop.thinking import Way, conclusion, conclusion_note, effort_at
from core.loop.tool_calls import ApprovalTimer, notices, run_call
from core.loop.turn_context import Turn, TurnContext
from utils.error_codes import ErrorCode
from utils.i18n import Phrase, phrase
from utils.llm.completion import DIRECT_CALL, ModelError, Usage
from utils.waiting import Stopped

LOOP_WARNING = (
    "You are repeating yourself: the last calls brought nothing new. Do something else, or say "
    "what is in the way. If it goes on, the task will be stopped."
)
SAME_TOOL_WARNING = "You use the same tool over and over. If that is not meant, do something else."
MAX_CONTINUATIONS = 3
"""Replies cut off by the output limit that a task may go on from."""


@dataclass
class _Task:
    """The memory of one turn from step to step."""

    started_at: float = field(default_factory=lambda: time.monotonic())
    usage: Usage = field(default_factory=Usage)
    route: Route = STANDARD
    """How deep it goes. One that calls tools all the same is no social one: it is standard then."""
    way: Way = ""
    loop_detector: LoopDetector = field(default_factory=LoopDetector)
    cut_replies: int = 0
    must_think: bool = False
    has_compacted: bool = False
    nudges: Nudges = field(default_factory=Nudges)
    failed_tool: str = ""
    """The tool of the last call, where that failed."""
    was_held: bool = False
    """Whether a hook has let it go on at its end, which one may do once."""
    was_red: bool = False
    """Whether the model was told that a check of the project failed, which it is once."""
    approval_timer: ApprovalTimer = field(default_factory=ApprovalTimer)

    def end(
        self, why: EndReason, detail: Phrase | None = None, code: ErrorCode | None = None
    ) -> TurnFinished:
        seconds = time.monotonic() - self.started_at - self.approval_timer.seconds
        return TurnFinished(why, detail, self.usage, seconds, error_code=code)


@dataclass(frozen=True)
class PausedTurn:
    """A turn that was left: in its *step*, at the question about the first of the *calls* of
    *reply* that have no answer; *usage* is that of all its steps."""

    reply: Assistant
    calls: Sequence[ToolCall]
    step: int
    usage: Usage

    @classmethod
    def of(cls, history: History) -> PausedTurn:
        turn_records = [record for turn, record in history.records if turn == history.turn]
        replies = [record for record in turn_records if isinstance(record, Assistant)]
        usage = sum((reply.usage or Usage() for reply in replies), Usage())
        return cls(replies[-1], history.unanswered_calls, len(replies), usage)


def run_turn(
    context: TurnContext, paused: PausedTurn | None = None, *, route: Route = STANDARD
) -> Turn:
    """Let the model work until it stops calling tools, a limit is reached or somebody stops it.

    With *paused* that turn goes on, with its question; *route* is how deep another one goes.
    """
    if paused:
        task = _Task(usage=paused.usage, way="low" if paused.reply.effort == "low" else "")
    else:
        task = _Task(route=route, way=context.features.costs.thinking_way(context.mode))
    if route.note:
        context.record(Context(route.note))
    first_step = paused.step if paused else 1
    for step in _steps(first_step, context):
        finished = None
        try:
            if paused and step == first_step:
                finished = yield from _resume_turn(context, paused, task)
            else:
                finished = yield from _step(context, step, task)
        except Stopped:
            finished = task.end("stopped", phrase("Stopped."))
        except ModelError as error:
            if error.usage.requests:
                task.usage += error.usage
                context.record(usage_record(error.usage))
            if not (yield from task.nudges.ask_for_words(context, error)):
                finished = task.end("error", error.message, error.code)
        if finished is not None:
            yield from _finish_turn(context, finished)
            return
    limit = _limit_reached(context.step_limit)
    yield from _finish_turn(context, task.end("step_limit", limit, "limit"))


def _steps(first: int, context: TurnContext) -> Iterable[int]:
    """Yield the numbers of the steps from *first* to the limit, at least one."""
    yield first
    for step in itertools.count(first + 1):
        if _is_last(context, step - 1):
            return
        yield step


def _is_last(context: TurnContext, step: int) -> bool:
    """Return whether the task may have no step after *step*: those of its helpers count as well."""
    limit = context.step_limit
    return bool(limit) and step + context.helper_steps >= limit


def _limit_reached(limit: int) -> Phrase:
    if limit == 1:
        return phrase("Stopped at the limit of 1 model call per task. Send “go on” to continue.")
    return phrase(
        "Stopped at the limit of {n:,} model calls per task. Send “go on” to continue.", n=limit
    )


def _finish_turn(context: TurnContext, finished: TurnFinished) -> Iterator[Event]:
    """Finish the turn, then tell of what the terminal warns about, and of the end."""
    finished = replace(finished, usage=finished.usage + context.helper_usage)
    context.on_turn_finished(finished)
    yield from notices(context)
    yield from context.features.proposals()
    cited, proof = context.citations(), context.proof()
    yield replace(
        finished,
        still_open=context.features.unfinished_work(),
        citations=cited.sources,
        unknown_citations=cited.unknown,
        receipts=proof.receipts,
        checks=proof.checks,
        claims=proof.claims,
    )


def _step(
    context: TurnContext, step: int, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Make one model call and run its tools; return the end of the turn, if this was it."""
    if refusal := (yield from before_step(context, step, task.way)):
        return task.end("budget", refusal, "limit")
    effort = effort_at(task.way, step, may_think=task.route.may_think)
    effort = "usual" if task.must_think else effort
    task.must_think = False
    yield from context.window.compact_if_needed()
    yield from ask_questions(context, task.approval_timer)
    yield StepStarted(step, bool(effort))
    reply_read = yield from _read_reply_that_fits(context, task, effort)
    reply = reply_read.message
    usage = reply.usage or Usage()
    task.usage += usage
    step_finished = StepFinished(step, usage)
    is_enough = bool(task.route.reply_tokens and reply.text.strip() and not reply.calls)
    if task.route.reply_tokens:
        task.route = STANDARD
    if (
        end := (yield from _run_reply_calls(context, reply.calls, task, step_finished))
    ) is not None:
        return end
    if reply_read.is_repeating:
        return (yield from _end_repetition(context, task))
    if reply_read.is_cut and not reply.calls and not is_enough:
        return (yield from _continue_cut_reply(context, task))
    if not reply.calls:
        if (
            yield from task.nudges.ask_again(
                context, reply_read, step=step, failed=task.failed_tool
            )
        ):
            return None
        return (yield from _end(context, reply_read, task, step))
    task.nudges.was_asked_to_call = False
    if effort:
        yield from _record_conclusion(context, reply, task.way)
    return None


def _end(
    context: TurnContext, reply_read: ReplyRead, task: _Task, step: int
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Return the end of a task whose last word was said in *step*, None where it goes on all the
    same.

    Nothing lets it go on whose reply is the last that it may have.
    """
    is_last = _is_last(context, step)
    words, timer = reply_read.message.text, task.approval_timer
    if (yield from is_plan_approved(context, words, step, timer, is_last=is_last)):
        task.failed_tool = ""
        return None
    if task.failed_tool and not is_last:
        fate = yield from decide_failed_step(context, task.failed_tool, step, task.approval_timer)
        if fate == "goes on":
            task.failed_tool = ""
            return None
        if fate == "ends":
            return task.end("done")
    is_planning = context.approval.mode == "plan"  # its todos are for later
    if not is_planning and (yield from ask_whether_done(context, words, is_last=is_last)):
        return None
    if not (yield from may_end(context, was_held=task.was_held)):
        task.was_held = True
        return None
    may_mend = not (is_last or task.was_red or context.is_practice or context.over_budget_reason())
    if not (yield from checks_pass(context, task.approval_timer, may_go_on=may_mend)):
        task.was_red = True
        return None
    if reply_read.may_hold_call:
        yield Warned(_ended_on_a_call())
    if task.failed_tool:
        yield Warned(_ended_on_failure(task.failed_tool))
    return task.end("done")


def _read_reply_that_fits(
    context: TurnContext, task: _Task, effort: Effort
) -> Generator[Event, Reply | None, ReplyRead]:
    """Read one reply; where the conversation turns out too long, make room once in a task."""
    try:
        return (yield from read_reply(context, effort, task.route.reply_tokens))
    except ModelError as error:
        if error.kind != "context" or task.has_compacted:
            raise
        task.has_compacted = True
        if not (yield from context.window.compact_after_refusal()):
            raise
        if error.usage.requests:
            task.usage += error.usage
            context.record(usage_record(error.usage))
    return (yield from read_reply(context, effort, task.route.reply_tokens))


def _resume_turn(
    context: TurnContext, paused: PausedTurn, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Do what `_step` had not done yet when it was left."""
    if (end := (yield from _run_reply_calls(context, paused.calls, task))) is not None:
        return end
    if any(call.id.startswith(DIRECT_CALL) for call in paused.calls):
        return task.end("done")  # no model asked for them, and none is asked now
    yield from _record_conclusion(context, paused.reply, task.way)
    return None


def _run_reply_calls(
    context: TurnContext,
    calls: Sequence[ToolCall],
    task: _Task,
    step_finished: StepFinished | None = None,
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Run the calls of a reply; return the end of the turn where it goes in circles."""
    question = yield from _run_calls(context, calls, task, step_finished)
    if context.stop.is_set():
        raise Stopped
    if question is not None and not (yield from _may_continue(context, task, question)):
        return task.end("step_limit", question.why, "limit")
    return None


def _continue_cut_reply(
    context: TurnContext, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Ask for the rest of a reply that the output limit cut off, a few times at most."""
    task.cut_replies += 1
    if task.cut_replies > MAX_CONTINUATIONS:
        why = phrase("The reply hit the output limit several times.")
        return task.end("error", why, "limit")
    context.record(Context("The output limit cut your reply off. Go on exactly where it stopped."))
    yield Warned(phrase("The reply hit the output limit. Continuing."))
    return None


def _end_repetition(
    host: TurnContext, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Tell the model, once in a task, that its reply was stopped for saying the same on and on."""
    if task.nudges.was_endless:
        return task.end("error", phrase("The model keeps repeating itself."), "model")
    yield from task.nudges.end_repetition(host)
    return None


def _ended_on_a_call() -> Phrase:
    return phrase("The reply ends with what looks like a call written as text. It was not run.")


def _ended_on_failure(name: str) -> Phrase:
    return phrase("The last call, {name}, failed before the task ended.", name=name)


def _record_conclusion(
    context: TurnContext, reply: Assistant, way: Way
) -> Generator[Event, Reply | None, None]:
    """Carry on what a thinking step concluded to the steps that will not think, if it did.

    What is signed is sent back itself, and so are the thoughts where every step thinks.
    """
    if not reply.thinking or reply.signed or way == "low":
        return
    conclusion_text = conclusion(reply.thinking)
    context.record(Context(conclusion_note(conclusion_text)))
    yield ThoughtKept(conclusion_text)


def _run_calls(
    context: TurnContext, calls: Sequence[ToolCall], task: _Task, step_finished: StepFinished | None
) -> Generator[Event, Reply | None, ApprovalAsked | None]:
    """Tell that the reply is *step_finished*, then run its calls in order.

    Returns what to ask the person before going on, or None.

    Whatever happens, a crash of ours or a screen that went away included, each call has got its
    one answer when this is left, the API insists; or it waits for that of the person.
    """
    pending = deque(calls)
    question: ApprovalAsked | None = None
    warnings: list[str] = []
    task.loop_detector.begin_reply()
    try:
        if step_finished is not None:
            yield step_finished
        while pending:
            for call, result, has_changed in (yield from _run_next(context, pending, task)):
                task.failed_tool = result.name if result.state == "failed" else ""
                match task.loop_detector.observe(
                    call, result, context.features.state_fingerprint(), has_changed=has_changed
                ):
                    case "ask":
                        question = _loop_question(call)
                    case "think":
                        task.must_think = True
                        warnings.append(result.name)
                    case "warn":
                        warnings.append(result.name)
    finally:
        if pending:
            context.on_abandoned(pending)
    for name in warnings[:1]:
        context.record(Context(LOOP_WARNING if task.must_think else SAME_TOOL_WARNING))
        yield Warned(phrase("The model keeps calling {name}. It was warned.", name=name))
    return question


def _run_next(
    context: TurnContext, pending: deque[ToolCall], task: _Task
) -> Generator[Event, Reply | None, list[tuple[ToolCall, ToolResult, bool]]]:
    """Run the first of the *pending* calls, and at once those behind it that may be.

    Returns each with its answer, and whether it changed files.
    """
    if len(together := calls_at_once(context.tools, pending)) > 1:
        return (yield from run_at_once(context, together, pending, task.approval_timer))
    call = pending[0]
    return [(call, *(yield from run_call(context, call, pending, task.approval_timer)))]


def _loop_question(call: ToolCall) -> ApprovalAsked:
    why = phrase(
        "Task stopped: the model kept calling {name} without progress. Tell it what to do "
        "differently.",
        name=call.name,
    )
    arguments: dict[str, Any] = json.loads(call.arguments)
    card = TextCard(call.name, "\n".join(f"{key}: {value}" for key, value in arguments.items()))
    return ApprovalAsked(call.id, call.name, "loop", why, "", card)


def _may_continue(
    context: TurnContext, task: _Task, question: ApprovalAsked
) -> Generator[Event, Reply | None, bool]:
    """Ask the person whether a task that goes in circles may go on."""
    ask = phrase("The model is going in circles without progress. Let it continue?")
    reply = yield from task.approval_timer.ask(replace(question, why=ask))
    if context.stop.is_set():
        raise Stopped
    if reply is None or not reply.yes:
        if reply and reply.reason.strip():
            context.record(Context(f"The person stopped the task here: {reply.reason.strip()}"))
        return False
    task.loop_detector.reset()
    return True


def drive(turn: Turn, show: Callable[[Event], Reply | None]) -> None:
    """Run *turn* to its end; a screen is the *show* that draws events and may reply.

    When *show* raises, the turn is closed first: its history is whole before the error is seen.
    """
    reply: Reply | None = None
    try:
        while True:
            reply = show(turn.send(reply))
    except StopIteration:
        return
    finally:
        turn.close()
