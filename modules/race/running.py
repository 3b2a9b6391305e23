"""All racers of a race while they run: who starts when, and what each has come to."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from time import monotonic

from core.cards import TextCard
from core.conversation.history import usage_record
from core.events import (
    ApprovalAsked,
    Event,
    Informed,
    Reply,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Warned,
)
from core.loop.direct_calls import DirectContext
from core.loop.tool_calls import ApprovalTimer
from core.main_terminal import MainTerminal
from modules.race.kept_races import Racer
from modules.race.race_phrases import ended_phrase
from modules.race.racer_thread import (
    UNSAID,
    Inbox,
    LogFailure,
    Over,
    RacerThread,
    Said,
    StopAsked,
)
from utils.i18n import Phrase, phrase
from utils.llm.completion import Usage
from utils.text.clean import visible

AT_ONCE = 4
"""Racers that run beside each other."""
HEAD_START_SECONDS = 5.0
"""Seconds from the first sign of the first racer's reply after which the others start all the same.

Servers keep how a prompt begins only after they have answered, and some take seconds for it.
"""
_MAX_SUBJECT = 80  # characters of what a call is about
_BEFORE_REPLY = (TurnStarted, StepStarted, Warned, Informed)
"""Events that may come before the server has begun to answer."""

OpenTerminal = Callable[[Racer], AbstractContextManager[MainTerminal]]
"""Opens the terminal of a racer, in its session."""


@dataclass
class _Lane:
    """A racer with its thread, until that *is_over*; *answer* is what the model said last.

    *replied_at* is when the server began to answer it, None before that.
    """

    racer: Racer
    thread: RacerThread | None = None
    replied_at: float | None = None
    has_whole_reply: bool = False
    is_over: bool = False
    answer: str = ""
    asked: Mapping[str, ToolStarted] | None = None

    @property
    def is_running(self) -> bool:
        return self.thread is not None and not self.is_over

    @property
    def seconds_ahead(self) -> float:
        """Seconds for which those whose prompts begin as its own should still wait."""
        if self.has_whole_reply or self.is_over:
            return 0.0
        if self.replied_at is None:
            return math.inf
        return max(0.0, self.replied_at + HEAD_START_SECONDS - monotonic())


class Running:
    """Runs *racers*, which do *task*, and yields what a screen of *context* should show of it.

    The call *call_id* is the race there. *keep* is told of every racer that began or ended, before
    anybody sees it. What they spend is recorded in *context*, whose budgets end them all.
    """

    def __init__(
        self,
        context: DirectContext,
        call_id: str,
        task: str,
        racers: Sequence[Racer],
        open_terminal: OpenTerminal,
        keep: Callable[[Racer], Racer],
        log_failure: LogFailure,
        timer: ApprovalTimer,
    ) -> None:
        self._context = context
        self._call_id = call_id
        self._task = task
        self._lanes = {racer.number: _Lane(racer) for racer in racers}
        self._open_terminal = open_terminal
        self._keep = keep
        self._log_failure = log_failure
        self._inbox: Inbox = SimpleQueue()
        self._terminals = ExitStack()
        self._timer = timer
        self._refusal: Phrase | None = None

    def run(self) -> Generator[Event, Reply | None, None]:
        """Have all come to their ends; when this is left, however it is, none runs any more."""
        stop = self._context.stop
        with self._terminals:
            try:
                with stop.on_stop(lambda: self._inbox.put((0, StopAsked()))):
                    yield from self._start_ready()
                    while any(lane.is_running for lane in self._lanes.values()):
                        if news := self._next_news():
                            yield from self._take(*news)
                        yield from self._start_ready()
            finally:
                self._stop_all()
                for lane in self._lanes.values():
                    if lane.thread:
                        lane.thread.join()

    def stop(self, number: int) -> bool:
        """Stop one racer, from any thread; return whether it runs."""
        lane = self._lanes.get(number)
        if lane is None or not lane.is_running or lane.thread is None:
            return False
        lane.thread.stop()
        return True

    def _stop_all(self) -> None:
        for lane in self._lanes.values():
            if lane.is_running and lane.thread:
                lane.thread.stop()

    # --- who starts when -------------------------------------------------------------------------

    def _start_ready(self) -> Generator[Event, Reply | None, None]:
        """Start those that may: a few at once, and of each model one ahead of the others."""
        for lane in self._lanes.values():
            if self._context.stop.is_set() or self._refusal:
                return
            running = [one for one in self._lanes.values() if one.is_running]
            if len(running) >= AT_ONCE:
                return
            if lane.racer.state == "waiting" and not self._seconds_to_wait(lane):
                yield from self._start(lane)

    def _seconds_to_wait(self, lane: _Lane) -> float:
        """Return the seconds until the server keeps how the prompt of *lane* begins.

        There are none for the first one of its kind, which makes the server do so.
        """
        kin = [one for one in self._lanes.values() if _prompt_of(one) == _prompt_of(lane)]
        begun = [one for one in kin if one.racer.state != "waiting"]
        return min((one.seconds_ahead for one in begun), default=0.0)

    def _next_news(self) -> tuple[int, Said] | None:
        """Return what is said next, None where another racer may start before that."""
        waiting = [one for one in self._lanes.values() if one.racer.state == "waiting"]
        seconds = min(filter(None, map(self._seconds_to_wait, waiting)), default=math.inf)
        try:
            return self._inbox.get(timeout=seconds if seconds < math.inf else None)
        except Empty:
            return None

    def _start(self, lane: _Lane) -> Generator[Event, Reply | None, None]:
        terminal = self._terminals.enter_context(self._open_terminal(lane.racer))
        number = lane.racer.number
        lane.thread = RacerThread(number, terminal, self._task, self._inbox, self._log_failure)
        lane.racer = self._keep(replace(lane.racer, state="running"))
        lane.thread.start()
        yield self._line(number, "…")

    # --- what they say ---------------------------------------------------------------------------

    def _take(self, number: int, said: Said) -> Generator[Event, Reply | None, None]:
        lane = self._lanes.get(number)
        if lane is None or isinstance(said, StopAsked):
            self._stop_all()
            return
        if isinstance(said, Over):
            yield from self._end(lane, said)
            return
        if lane.replied_at is None and not isinstance(said, _BEFORE_REPLY):
            lane.replied_at = monotonic()
        yield from self._on_event(lane, said)

    def _on_event(self, lane: _Lane, said: Event) -> Generator[Event, Reply | None, None]:
        number = lane.racer.number
        match said:
            case StepStarted():
                lane.answer = ""
            case TextDelta(text=text):
                lane.answer += text
            case StepFinished(usage=usage):
                lane.has_whole_reply = True
                yield from self._spend(lane, usage)
            case ToolStarted():
                lane.asked = {said.call_id: said}
                yield self._line(number, f"{said.name} {_subject(said.arguments)}")
            case ToolFinished(state=state) if state != "done":
                yield self._line(number, f"{said.name} ✗")
            case ApprovalAsked():
                yield from self._ask(lane, said)
            case TurnFinished():
                yield from self._finish(lane, said)

    def _spend(self, lane: _Lane, usage: Usage) -> Generator[Event, Reply | None, None]:
        """Keep what a step has cost; end all where no more may be spent."""
        lane.racer = replace(lane.racer, usage=lane.racer.usage + usage)
        self._context.record(usage_record(usage))
        if self._refusal is None and (refusal := self._context.over_budget_reason()):
            self._refusal = refusal
            yield Warned(refusal)
            self._stop_all()

    def _finish(self, lane: _Lane, finished: TurnFinished) -> Generator[Event, Reply | None, None]:
        rest = finished.usage - lane.racer.usage
        if rest.requests > 0:  # of replies that came to nothing
            yield from self._spend(lane, rest)
        why, detail = finished.why, finished.detail
        if why == "stopped" and self._refusal:
            why, detail = "budget", self._refusal
        lane.racer = replace(
            lane.racer,
            detail=detail,
            answer=lane.answer.strip(),
            checks=finished.checks.state,
            seconds=finished.seconds,
            state="running" if why == "interrupted" else why,
        )

    def _end(self, lane: _Lane, over: Over) -> Generator[Event, Reply | None, None]:
        racer, lane.is_over = lane.racer, True
        if over.problem or not racer.is_at_end:
            racer = replace(racer, state="error", detail=over.problem or UNSAID)
        lane.racer = self._keep(racer)
        yield Informed(ended_phrase(lane.racer))

    def _ask(self, lane: _Lane, asked: ApprovalAsked) -> Generator[Event, Reply | None, None]:
        """Put a racer's question to the person, as a call of its own that says who asks."""
        number = lane.racer.number
        call_id = f"{self._call_id}-{number}-{asked.call_id}"
        started = (lane.asked or {}).get(asked.call_id)
        arguments = started.arguments if started else {}
        if asked.arguments is not None:  # those of its helper
            arguments = asked.arguments
        yield ToolStarted(call_id, asked.name, arguments, tier=started.tier if started else "")
        why = phrase("Racer {n} asks: {why}", n=str(number), why=asked.why)
        parent = call_id if asked.parent else ""
        question = replace(asked, call_id=call_id, why=why, may_last=False, parent=parent)
        reply = yield from self._timer.ask(question)
        is_yes = reply is not None and reply.yes
        card = TextCard(phrase("Allowed") if is_yes else phrase("Refused"))
        yield ToolFinished(call_id, asked.name, "done" if is_yes else "failed", card, 0.0)
        if lane.thread:
            lane.thread.answer(reply)

    def _line(self, number: int, text: str) -> ToolOutput:
        return ToolOutput(self._call_id, f"{number}  {text.rstrip()}\n")

    @property
    def racers(self) -> tuple[Racer, ...]:
        """The racers as they are now."""
        return tuple(lane.racer for lane in self._lanes.values())


def _prompt_of(lane: _Lane) -> tuple[str, bool]:
    """Return what decides how the prompt of *lane* begins: servers keep each way to think apart."""
    return lane.racer.model, lane.racer.mode == "fast"


def _subject(arguments: Mapping[str, object]) -> str:
    first = next((value for value in arguments.values() if isinstance(value, str)), "")
    line = visible(first.replace("\n", " "))
    return line if len(line) <= _MAX_SUBJECT else f"{line[:_MAX_SUBJECT]}…"
