"""One turn: from a person's message to the model's last word.

`run_turn` is a generator. It yields events and, where it needs a person, takes the reply that is
sent back in. It prints nothing and opens nothing; whoever drives it decides what the events look
like. The same loop serves the terminal, the browser, `-p` and the tests.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any

from core.calls import run_call
from core.cards import TextCard
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
from core.history import spending
from core.host import Host, Turn
from core.messages import Assistant, Context, ToolAnswer, ToolCall
from core.progress import Progress
from core.reply import read_reply
from core.thinking import carried, conclusion, thinks
from utils.completion import ModelError, Usage
from utils.phrases import Phrase, phrase
from utils.waiting import Stopped

BROKEN_OFF = "No answer: Onefold broke off before or while this ran. Look at the state first."
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

    began: float = field(default_factory=time.monotonic)
    usage: Usage = field(default_factory=Usage)
    progress: Progress = field(default_factory=Progress)
    cuts: int = 0
    must_think: bool = False

    def end(self, why: Why, detail: Phrase | None = None) -> TurnFinished:
        return TurnFinished(why, detail, self.usage, time.monotonic() - self.began)


def run_turn(host: Host) -> Turn:
    """Let the model work until it stops calling tools, a limit is reached or somebody stops it."""
    task = _Task()
    for step in range(1, host.step_limit + 1):
        try:
            finished = yield from _step(host, step, task)
        except Stopped:
            finished = task.end("stopped", phrase("Stopped."))
        except ModelError as error:
            if error.usage.requests:
                task.usage += error.usage
                host.record(spending(error.usage))
            finished = task.end("error", error.what)
        if finished is not None:
            host.finish(finished)
            yield finished
            return
    limit = phrase(
        "Stopped after {n} model calls, the limit of one task. Say “go on” to continue.",
        n=host.step_limit,
    )
    finished = task.end("step_limit", limit)
    host.finish(finished)
    yield finished


def _step(
    host: Host, step: int, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Make one model call and run its tools; return the end of the turn, if this was it."""
    if spent := host.spent():
        return task.end("budget", spent)
    think, task.must_think = task.must_think or thinks(host.mode, step), False
    yield from host.make_room()
    yield StepStarted(step, think)
    reply, is_cut = yield from read_reply(host, think)
    usage = reply.usage or Usage()
    task.usage += usage
    loop = yield from _run_calls(host, reply, task, StepFinished(step, usage))
    if host.stop.is_set():
        raise Stopped
    if loop is not None and not (yield from _may_go_on(host, task, loop)):
        return task.end("step_limit", loop.why)
    if is_cut and not reply.calls:
        return (yield from _go_on(host, task))
    if not reply.calls:
        return task.end("done")
    if think and reply.thinking:
        yield from _keep_thought(host, reply)
    return None


def _go_on(host: Host, task: _Task) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Ask for the rest of a reply that the output limit cut off, a few times at most."""
    task.cuts += 1
    if task.cuts > CUTS:
        return task.end("error", phrase("The output limit cut the reply off again and again."))
    host.record(Context("The output limit cut your reply off. Go on exactly where it stopped."))
    yield Warned(phrase("The output limit cut the reply off; it goes on."))
    return None


def _keep_thought(host: Host, reply: Assistant) -> Generator[Event, Reply | None, None]:
    """Carry on what a thinking step concluded to the steps that will not think."""
    kept = conclusion(reply.thinking)
    host.record(Context(carried(kept)))
    yield ThoughtKept(kept)


def _run_calls(
    host: Host, reply: Assistant, task: _Task, finished: StepFinished
) -> Generator[Event, Reply | None, ApprovalAsked | None]:
    """Tell that the reply is *finished*, then run its calls in order.

    Returns what to ask the person before going on, or None.

    Whatever happens, a crash of ours or a screen that went away included, each call has got its
    one answer when this is left: the API insists.
    """
    waiting = deque(reply.calls)
    question: ApprovalAsked | None = None
    warnings: list[str] = []
    task.progress.next_reply()
    try:
        yield finished
        while waiting:
            call = waiting[0]
            answer, has_changed = yield from run_call(host, call, waiting)
            match task.progress.see(call, answer, host.standing(), has_changed=has_changed):
                case "ask":
                    question = _question_of_loop(call)
                case "think":
                    task.must_think = True
                    warnings.append(answer.name)
                case "warn":
                    warnings.append(answer.name)
    finally:
        for call in waiting:
            host.record(ToolAnswer(call.id, call.name, BROKEN_OFF, "stopped"))
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
    host: Host, task: _Task, question: ApprovalAsked
) -> Generator[Event, Reply | None, bool]:
    """Ask the person whether a task that goes in circles may go on."""
    ask = phrase("The model goes in circles: nothing new came of it. Let it go on?")
    reply = yield replace(question, why=ask)
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
