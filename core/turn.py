"""One turn: from a person's message to the model's last word.

`run_turn` is a generator. It yields events and, where it needs a person, takes the reply that is
sent back in. It prints nothing and opens nothing; whoever drives it decides what the events look
like. The same loop serves the terminal, the browser, `-p` and the tests.
"""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from core.approval import Approval, Leave
from core.blinding import Stream, mapped
from core.cards import RunCard, TextCard
from core.events import (
    ApprovalAsked,
    CallDrafted,
    Event,
    Reply,
    Retrying,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
    ThoughtKept,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
    Warned,
    Why,
)
from core.family import Doubt
from core.messages import AnswerState, Assistant, Context, Record, ToolAnswer, ToolCall, Wire
from core.progress import Progress
from core.thinking import Mode, carried, conclusion, thinks
from core.tools import Outcome, Tool, Toolbox, ToolError, failed
from utils.completion import Completion, Delta, ModelError, RawCall, Retry, Usage
from utils.phrases import Phrase, Problem, Text, phrase
from utils.waiting import Stop, Stopped

Turn = Generator[Event, Reply | None, None]
BROKEN_OFF = "No answer: Onefold broke off before or while this ran. Look at the state first."
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]+")
CUTS = 3
"""Replies cut off by the output limit that a task may go on from."""


class Model(Protocol):
    def stream(
        self, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool, stop: Stop
    ) -> Iterator[Delta | Retry | Completion]:
        """Stream one reply, its `Completion` last.

        Raises `ModelError` when there is none to be had, `Stopped` on *stop*.
        """


class Host(Protocol):
    """What a turn needs of its terminal."""

    tools: Toolbox
    approval: Approval
    stop: Stop
    mode: Mode
    step_limit: int

    @property
    def model(self) -> Model: ...

    def make_room(self) -> Iterator[Event]:
        """See to it that the next request fits; tell the person of what is done for that."""

    def request(self) -> list[Wire]:
        """Return the messages of the next model call."""

    def record(self, record: Record) -> None:
        """Keep *record*; it is durable on return."""

    def before(self, tool: Tool, call_id: str) -> None:
        """Be told that *tool* is about to run."""

    def standing(self) -> str:
        """Return a short text that is another when the folder or the todos are."""

    def settle(self, tool: Tool, call_id: str) -> None:
        """Be told that *tool* is over; called before its answer is recorded."""

    def doubt(self, tool: Tool, call_id: str) -> Doubt | None:
        """Return what the person must decide about a call that has been settled."""

    def follow(self, outcome: Outcome) -> None:
        """Be told what came of a call in the end."""

    def warnings(self) -> Sequence[Phrase]:
        """Return what the person should see and was not told yet."""

    def blind(self, text: str) -> str:
        """Return *text* without what nobody may see; see `core.blinding.Blind`."""

    def unsure(self, text: str) -> int:
        """Return how many characters at the end may begin something that nobody may see."""

    def reveal(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments that *tool* gets for those that the model gave."""

    def spent(self) -> Phrase | None:
        """Return why nothing more may be spent, or None."""


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
            finished = task.end("error", error.what)
        if finished is not None:
            yield finished
            return
    limit = phrase(
        "Stopped after {n} model calls, the limit of one task. Say “go on” to continue.",
        n=host.step_limit,
    )
    yield task.end("step_limit", limit)


def _step(
    host: Host, step: int, task: _Task
) -> Generator[Event, Reply | None, TurnFinished | None]:
    """Make one model call and run its tools; return the end of the turn, if this was it."""
    if spent := host.spent():
        return task.end("budget", spent)
    think, task.must_think = task.must_think or thinks(host.mode, step), False
    yield from host.make_room()
    yield StepStarted(step, think)
    reply, is_cut = yield from _reply(host, think)
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


def _reply(host: Host, think: bool) -> Generator[Event, Reply | None, tuple[Assistant, bool]]:
    """Stream one reply, record it and return it, and whether the output limit cut it off.

    A reply that was stopped is recorded as far as its text came; its calls are dropped.
    """
    draft = _Draft()
    stream = host.model.stream(host.request(), host.tools.wire, think=think, stop=host.stop)
    try:
        for item in stream:
            match item:
                case Completion():
                    yield from draft.close_thinking()
                    reply = draft.whole(item)
                    host.record(reply)
                    return reply, item.is_cut
                case Retry(reason, attempt, seconds):
                    draft = _Draft()
                    yield Retrying(reason, attempt, seconds)
                case Delta():
                    yield from draft.add(item)
    except Stopped:
        if draft.text or draft.thinking:
            host.record(Assistant(draft.text, draft.thinking, seconds=draft.seconds))
        raise
    raise ModelError("reply", phrase("The model's reply ended without an end."))


class _Draft:
    """A reply as far as it has come."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._began: float | None = None
        self.seconds = 0.0

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        return "".join(self._thoughts)

    def add(self, delta: Delta) -> Iterator[Event]:
        if delta.thinking:
            if self._began is None:
                self._began = time.monotonic()
            self._thoughts.append(delta.thinking)
            yield ThinkingDelta(delta.thinking)
        if delta.text or delta.call_name:
            yield from self.close_thinking()
        if delta.text:
            self._texts.append(delta.text)
            yield TextDelta(delta.text)
        if delta.call_name:
            yield CallDrafted(delta.call_name, delta.call_characters)

    def close_thinking(self) -> Iterator[Event]:
        if self._began is not None and not self.seconds:
            self.seconds = time.monotonic() - self._began
            yield ThinkingFinished(self.seconds)

    def whole(self, done: Completion) -> Assistant:
        calls = tuple(_call(raw) for raw in done.calls)
        return Assistant(done.text, done.thinking, calls, self.seconds, done.usage)


def _call(raw: RawCall) -> ToolCall:
    """Return the call with its arguments as one JSON object, or marked as broken.

    Servers refuse a history with a name that no tool can have, in every request from then on.
    """
    name = _NO_NAME.sub("_", raw.name)[:64] or "unnamed"
    text = raw.arguments.strip()
    if text in ("", "null"):
        text = "{}"
    try:
        value = json.loads(text)
        if isinstance(value, str):  # an object put in quotes once too often
            text, value = value, json.loads(value)
    except ValueError:
        value = None
    if raw.is_cut or not isinstance(value, dict):
        return ToolCall(raw.id, name, "{}", broken=raw.arguments or " ")
    return ToolCall(raw.id, name, text)


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
            answer, has_changed = yield from _run_call(host, call, waiting)
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
        host.record(
            Context(
                "You are repeating yourself: the last calls brought nothing new. Do something "
                "else, or say what is in the way. If it goes on, the task will be stopped."
            )
        )
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


def _run_call(
    host: Host, call: ToolCall, waiting: deque[ToolCall]
) -> Generator[Event, Reply | None, tuple[ToolAnswer, bool]]:
    """Run *call*, record its answer, take it off *waiting*, and only then show that it is over.

    Returns the answer, and whether files changed.
    """
    began = time.monotonic()
    state: AnswerState
    try:
        tool = host.tools.find(call.name)
        arguments = tool.arguments(call)
    except ToolError as error:
        yield ToolStarted(call.id, call.name, {})
        state, outcome = "failed", failed(error.what)
    else:
        yield ToolStarted(call.id, call.name, arguments)
        state, outcome = yield from _with_leave(host, tool, call.id, arguments)
    seconds = time.monotonic() - began
    answer = ToolAnswer(call.id, call.name, outcome.text, state, outcome.card, seconds)
    waiting.popleft()
    host.record(answer)
    yield ToolFinished(call.id, call.name, state, outcome.card, seconds, outcome.changes)
    return answer, bool(outcome.changes)


def _with_leave(
    host: Host, tool: Tool, call_id: str, arguments: Mapping[str, Any]
) -> Generator[Event, Reply | None, tuple[AnswerState, Outcome]]:
    """Run the tool if it may run; a stop and a refusal are outcomes too."""
    if host.stop.is_set():
        return "stopped", _stopped()
    leave = host.approval.judge(tool, arguments)
    reply: Reply | None = None
    if leave.verdict == "ask":
        reply = yield _question(tool, call_id, arguments, leave)
        if host.stop.is_set():
            return "stopped", _stopped()
    if leave.verdict == "refuse" or (leave.verdict == "ask" and not (reply and reply.yes)):
        return "refused", _refusal(leave, reply)
    if reply and reply.always:
        host.approval.always(reply.pattern or leave.pattern)
    return (yield from _run(host, tool, call_id, arguments))


def _run(
    host: Host, tool: Tool, call_id: str, arguments: Mapping[str, Any]
) -> Generator[Event, Reply | None, tuple[AnswerState, Outcome]]:
    try:
        host.before(tool, call_id)
    except Problem as problem:  # what it does could not be undone: it does not run
        return "failed", failed(problem.what)
    running = host.tools.run(tool, host.reveal(tool, arguments))
    stream = Stream(host)
    try:
        while True:
            if text := stream.add(next(running)):
                yield ToolOutput(call_id, text)
    except StopIteration as finished:
        outcome: Outcome = finished.value
    except Stopped:
        text = "The person stopped the task while this ran."
        outcome = _not_run(text, phrase("Stopped."), "")
    finally:
        running.close()
    if rest := stream.end():
        yield ToolOutput(call_id, rest)
    kept = yield from _settle(host, tool, call_id, outcome)
    yield from map(Warned, host.warnings())
    if kept is not outcome:
        return "refused", mapped(kept, host.blind)
    outcome = mapped(outcome, host.blind)
    if host.stop.is_set() and not outcome.ok:
        return "stopped", outcome
    return ("done" if outcome.ok else "failed"), outcome


def _settle(
    host: Host, tool: Tool, call_id: str, outcome: Outcome
) -> Generator[Event, Reply | None, Outcome]:
    """Let the house know what a call did, and the person decide about it where there is doubt.

    Returns *outcome* itself, or another one if all that the call did was put back.
    """
    try:
        host.settle(tool, call_id)
        if doubt := host.doubt(tool, call_id):
            question = ApprovalAsked(call_id, tool.name, "loss", doubt.why, "", doubt.card)
            reply = yield question
            if reply is None or not reply.yes:
                doubt.put_back()
                outcome = _put_back(outcome, reply)
        host.follow(outcome)
    except Problem as problem:  # it did run: its answer counts, and the person is told
        yield Warned(problem.what)
    return outcome


def _put_back(outcome: Outcome, reply: Reply | None) -> Outcome:
    if reply is None:
        why = "it deleted much, and nobody was there to say whether to keep that"
    else:
        why = reply.reason.strip() or "the person did not want what it deleted to be gone"
    text = f"{outcome.text}\nAll that this call did to the files was put back: {why}."
    return replace(outcome, text=text, ok=False, changes=())


def _question(
    tool: Tool, call_id: str, arguments: Mapping[str, Any], leave: Leave
) -> ApprovalAsked:
    return ApprovalAsked(
        call_id, tool.name, str(tool.risk), leave.why, leave.pattern, preview(tool.name, arguments)
    )


def preview(name: str, arguments: Mapping[str, Any]) -> TextCard | RunCard:
    """Return what a call is about to do, to the letter."""
    match name:
        case "run_python":
            return RunCard("python", str(arguments["code"]), "", None, "", 0.0, "")
        case "run_command":
            return RunCard("bash", str(arguments["command"]), "", None, "", 0.0, "")
        case _:
            return TextCard(name, "\n".join(map(_spelled, arguments.items())))


def _spelled(argument: tuple[str, Any]) -> str:
    name, value = argument
    text = str(value)
    return f"{name}: {text}" if "\n" not in text else f"{name}:\n{text}".removesuffix("\n")


def _refusal(leave: Leave, reply: Reply | None) -> Outcome:
    if leave.verdict == "refuse":
        return _not_run(f"Refused: {leave.why}", phrase("Refused"), leave.why)
    if reply is None:
        text = f"Refused: nobody was there to say yes. It needs a yes because: {leave.why}"
        return _not_run(text, phrase("Refused: nobody was there to say yes"), leave.why)
    reason = reply.reason.strip()
    text = f"The person said no: {reason}" if reason else "The person said no."
    return _not_run(text, phrase("You said no"), reason)


def _stopped() -> Outcome:
    return _not_run("Not run: the person stopped the task.", phrase("Not run"), phrase("Stopped."))


def _not_run(text: str, title: Phrase, why: Text) -> Outcome:
    return Outcome(text, TextCard(title, why), ok=False)


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
