"""One turn: from a person's message to the model's last word.

`run_turn` is a generator. It yields events and, where it needs a person, takes the reply that is
sent back in. It prints nothing and opens nothing; whoever drives it decides what the events look
like. The same loop serves the terminal, the browser, `-p` and the tests.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.cards import TextCard
from core.conversation.history import History, spending
from core.conversation.messages import Assistant, Context, ToolCall
from core.events import (
    ApprovalAsked,
    Event,
    Reply,
    StepFinished,
    StepStarted,
    ThoughtKept,
    TurnFinished,
    Warned,
    Why,
)
from core.loop.loop_detection import LoopDetector
from core.loop.nudges import Nudges
from core.loop.response import ReplyRead, read_reply
from core.loop.thinking import carried, conclusion, thinks
from core.loop.tool_calls import ApprovalTimer, run_call
from core.loop.turn_context import Turn, TurnContext
from utils.i18n import Phrase, phrase
from utils.llm.completion import ModelError, Usage
from utils.waiting import Stopped

STUCK = (
    "You are repeating yourself: the last calls brought nothing new. Do something else, or say "
    "what is in the way. If it goes on, the task will be stopped."
)
REPEATED = "You use the same tool over and over. If that is not meant, do something else."
CUTS = 3
"""Replies cut off by the output limit that a task may go on from."""


@dataclass
class _Task:
    """What one turn remembers from step to step."""

    began: float = field(default_factory=lambda: time.monotonic())
    usage: Usage = field(default_factory=Usage)
    progress: LoopDetector = field(default_factory=LoopDetector)
    cuts: int = 0
    must_think: bool = False
    has_made_room: bool = False
    nudges: Nudges = field(default_factory=Nudges)
    failed: str = ""
    """The tool of the last call, where that failed."""
    wait: ApprovalTimer = field(default_factory=ApprovalTimer)

    def end(self, why: Why, detail: Phrase | None = None) -> TurnFinished:
        seconds = time.monotonic() - self.began - self.wait.seconds
        return TurnFinished(why, detail, self.usage, seconds)


@dataclass(frozen=True)
class PausedTurn:
    """Where a turn was left: in its *step*, at the question about the first of the *calls* of
    *reply* that have no answer; *usage* is that of all its steps."""

    reply: Assistant
    calls: Sequence[ToolCall]
    step: int
    usage: Usage

    @classmethod
    def of(cls, history: History) -> PausedTurn:
        said = [record for turn, record in history.records if turn == history.turn]
        replies = [record for record in said if isinstance(record, Assistant)]
        usage = sum((reply.usage or Usage() for reply in replies), Usage())
        return cls(replies[-1], history.asked, len(replies), usage)


def run_turn(host: TurnContext, left: PausedTurn | None = None) -> Turn:
    """Let the model work until it stops calling tools, a limit is reached or somebody stops it.

    With *left* that turn goes on, with its question.
    """
    task = _Task(usage=left.usage) if left else _Task()
    first = left.step if left else 1
    for step in range(first, max(first, host.step_limit) + 1):
        try:
            if left and step == first:
                finished = yield from _take_up(host, left, task)
            else:
                finished = yield from _step(host, step, task)
        except Stopped:
            finished = task.end("stopped", phrase("Stopped."))
        except ModelError as error:
            if error.usage.requests:
                task.usage += error.usage
                host.record(spending(error.usage))
            finished = task.end("error", error.what)
        if finished is not None:
            yield from _end(host, finished)
            return
    yield from _end(host, task.end("step_limit", _limit_reached(host.step_limit)))


def _limit_reached(limit: int) -> Phrase:
    if limit == 1:
        return phrase("Stopped after 1 model call, the limit of one task. Say “go on” to continue.")
    return phrase(
        "Stopped after {n} model calls, the limit of one task. Say “go on” to continue.", n=limit
    )


def _end(host: TurnContext, finished: TurnFinished) -> Iterator[Event]:
    """Let the house finish the turn, then tell what it has to say of that, and the end."""
    host.finish(finished)
    for warning in host.warnings():
        yield Warned(warning)
    yield replace(finished, still_open=host.features.still_open())


def _step(
    host: TurnContext, step: int, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Make one model call and run its tools; return the end of the turn, if this was it."""
    if spent := host.spent():
        return task.end("budget", spent)
    think, task.must_think = task.must_think or thinks(host.mode, step), False
    yield from host.window.make_room()
    yield StepStarted(step, think)
    read = yield from _read_fitting(host, task, think)
    reply = read.message
    usage = reply.usage or Usage()
    task.usage += usage
    told = StepFinished(step, usage)
    if (end := (yield from _act(host, reply.calls, task, told))) is not None:
        return end
    if read.is_repeating:
        return (yield from _end_repetition(host, task))
    if read.is_cut and not reply.calls:
        return (yield from _go_on(host, task))
    if not reply.calls:
        if (yield from task.nudges.ask_again(host, read, step=step, failed=task.failed)):
            return None
        if read.is_unsure:
            yield Warned(_ended_on_a_call())
        if task.failed:
            yield Warned(_ended_on_failure(task.failed))
        return task.end("done")
    task.nudges.was_asked_to_call = False
    if think and reply.thinking and not reply.signed:  # what is signed is sent back itself
        yield from _keep_thought(host, reply)
    return None


def _read_fitting(
    host: TurnContext, task: _Task, think: bool
) -> Generator[Event, Reply | None, ReplyRead]:
    """Read one reply; where the conversation turns out too long, make room once in a task."""
    try:
        return (yield from read_reply(host, think))
    except ModelError as error:
        if error.kind != "context" or task.has_made_room:
            raise
        task.has_made_room = True
        if not (yield from host.window.make_room_again()):
            raise
        if error.usage.requests:
            task.usage += error.usage
            host.record(spending(error.usage))
    return (yield from read_reply(host, think))


def _take_up(
    host: TurnContext, left: PausedTurn, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Do what `_step` had not done yet when it was left."""
    if (end := (yield from _act(host, left.calls, task))) is not None:
        return end
    if left.reply.thinking and not left.reply.signed:
        yield from _keep_thought(host, left.reply)
    return None


def _act(
    host: TurnContext, calls: Sequence[ToolCall], task: _Task, finished: StepFinished | None = None
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Run the calls of a reply; return the end of the turn where it goes in circles."""
    loop = yield from _run_calls(host, calls, task, finished)
    if host.stop.is_set():
        raise Stopped
    if loop is not None and not (yield from _may_go_on(host, task, loop)):
        return task.end("step_limit", loop.why)
    return None


def _go_on(host: TurnContext, task: _Task) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Ask for the rest of a reply that the output limit cut off, a few times at most."""
    task.cuts += 1
    if task.cuts > CUTS:
        return task.end("error", phrase("The output limit cut the reply off again and again."))
    host.record(Context("The output limit cut your reply off. Go on exactly where it stopped."))
    yield Warned(phrase("The output limit cut the reply off; it goes on."))
    return None


def _end_repetition(
    host: TurnContext, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Tell the model, once in a task, that its reply was stopped for saying the same on and on."""
    if task.nudges.was_endless:
        return task.end("error", phrase("The model repeats the same words without end."))
    yield from task.nudges.end_repetition(host)
    return None


def _ended_on_a_call() -> Phrase:
    return phrase("The reply ends with what looks like a call, written as text: it was not run.")


def _ended_on_failure(name: str) -> Phrase:
    return phrase("The last call, {name}, failed before the task ended.", name=name)


def _keep_thought(host: TurnContext, reply: Assistant) -> Generator[Event, Reply | None, None]:
    """Carry on what a thinking step concluded to the steps that will not think."""
    kept = conclusion(reply.thinking)
    host.record(Context(carried(kept)))
    yield ThoughtKept(kept)


def _run_calls(
    host: TurnContext, calls: Sequence[ToolCall], task: _Task, finished: StepFinished | None
) -> Generator[Event, Reply | None, ApprovalAsked | None]:
    """Tell that the reply is *finished*, then run its calls in order.

    Returns what to ask the person before going on, or None.

    Whatever happens, a crash of ours or a screen that went away included, each call has got its
    one answer when this is left, the API insists; or it waits for that of the person.
    """
    waiting = deque(calls)
    question: ApprovalAsked | None = None
    warnings: list[str] = []
    task.progress.next_reply()
    try:
        if finished is not None:
            yield finished
        while waiting:
            call = waiting[0]
            answer, has_changed = yield from run_call(host, call, waiting, task.wait)
            task.failed = answer.name if answer.state == "failed" else ""
            match task.progress.see(
                call, answer, host.features.standing(), has_changed=has_changed
            ):
                case "ask":
                    question = _question_of_loop(call)
                case "think":
                    task.must_think = True
                    warnings.append(answer.name)
                case "warn":
                    warnings.append(answer.name)
    finally:
        if waiting:
            host.break_off(waiting)
    for name in warnings[:1]:
        host.record(Context(STUCK if task.must_think else REPEATED))
        yield Warned(phrase("The model repeats {name}; it was warned.", name=name))
    return question


def _question_of_loop(call: ToolCall) -> ApprovalAsked:
    why = phrase(
        "The model repeats {name} without getting further, so the task was stopped. Say what to do "
        "differently.",
        name=call.name,
    )
    arguments: dict[str, Any] = json.loads(call.arguments)
    card = TextCard(call.name, "\n".join(f"{key}: {value}" for key, value in arguments.items()))
    return ApprovalAsked(call.id, call.name, "loop", why, "", card)


def _may_go_on(
    host: TurnContext, task: _Task, question: ApprovalAsked
) -> Generator[Event, Reply | None, bool]:
    """Ask the person whether a task that goes in circles may go on."""
    ask = phrase("The model goes in circles: nothing new came of it. Let it go on?")
    reply = yield from task.wait.ask(replace(question, why=ask))
    if host.stop.is_set():
        raise Stopped
    if reply is None or not reply.yes:
        if reply and reply.reason.strip():
            host.record(Context(f"The person stopped the task here: {reply.reason.strip()}"))
        return False
    task.progress.forgive()
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
