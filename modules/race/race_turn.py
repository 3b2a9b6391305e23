"""The turn of a race: copies, racers, results, the proposal, the choice."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from core.cards import Card, DiffCard, TextCard
from core.conversation.messages import ResultState, ShellResult
from core.events import (
    CommandAnswered,
    Event,
    Informed,
    Reply,
    ToolFinished,
    ToolStarted,
)
from core.loop.direct_calls import DirectContext
from core.loop.tool_calls import ApprovalTimer
from core.loop.turn_context import Turn
from core.redaction import TextTransform, map_strings
from modules.race.choosing import Chooser
from modules.race.comparison import propose, race_card, result_text
from modules.race.kept_races import KeptRace, KeptRaces, Racer, racer_id
from modules.race.pairs import PairReader
from modules.race.race_line import RaceLine
from modules.race.race_phrases import ended_phrase
from modules.race.racer_copies import RacerCopies
from modules.race.racer_thread import LogFailure
from modules.race.running import OpenTerminal, Running
from modules.race.taking import CALL, Taker, begin, end_of, finish, nothing_taken
from utils.error_codes import ErrorCode
from utils.i18n import Phrase, UserError, phrase
from utils.llm.completion import Usage
from utils.text.clean import visible
from utils.waiting import Stopped


@dataclass(frozen=True, slots=True)
class RaceTools:
    """What a race works with; one that *takes_proposed* asks nobody which result to take.

    *command* is what a race is typed as.
    """

    kept: KeptRaces
    copies: RacerCopies
    taker: Taker
    open_terminal: OpenTerminal
    log_failure: LogFailure
    command: str
    takes_proposed: bool = False


@dataclass(frozen=True, slots=True)
class _Call:
    """The call that the race is on every screen: what it is typed as, and how long it takes."""

    id: str
    line: str
    started_at: float
    timer: ApprovalTimer

    @property
    def seconds(self) -> float:
        """Seconds so far, without those in which the person was waited for."""
        return time.monotonic() - self.started_at - self.timer.seconds


class RaceTurn:
    """The race *race*, run as *said* in a turn of the session that *session* returns."""

    def __init__(
        self, tools: RaceTools, said: RaceLine, race: str, session: Callable[[], str]
    ) -> None:
        self._tools = tools
        self._said = said
        self._session = session
        self._race = KeptRace(race, "", 0, said.task)
        self._redact: TextTransform = str
        self._diffs: dict[int, Sequence[DiffCard]] = {}
        self._usage = Usage()
        self._taken = 0
        self._running: Running | None = None

    def __call__(self, context: DirectContext, line: str, queued: Sequence[str]) -> Turn:
        started_at, timer = time.monotonic(), ApprovalTimer()
        turn = context.history.turn
        self._redact = context.features.redact
        line, task = self._redact(line), self._redact(self._said.task)
        yield from begin(context, line, queued)
        self._race = replace(self._race, session=self._session(), turn=turn, task=task)
        problem: Phrase | None = None
        with suppress(Stopped), self._tools.kept.running(self._race):
            call = _Call(f"{CALL}-{turn}", line, started_at, timer)
            problem = yield from self._compete(context, call)
            yield from self._conclude(context, call, problem)
        if self._tools.takes_proposed and not problem:  # nobody saw the calls: this is the answer
            card = map_strings(race_card(self._race, self._taken, has_answers=True), self._redact)
            yield CommandAnswered(self._tools.command, card)
        problem = problem or self._failure()
        end = end_of(context, started_at + timer.seconds, self._usage, problem)
        yield from finish(context, end)

    def stop(self, work: str) -> bool:
        """Stop the racer that the board calls *work*; return whether it is one that runs."""
        running = self._running
        numbers = {racer_id(self._race.id, one.number): one.number for one in self._race.racers}
        return running is not None and work in numbers and running.stop(numbers[work])

    def _failure(self) -> Phrase | None:
        """Return why nothing came of the race, None where a racer came to its end."""
        racers = self._race.racers
        if any(racer.state == "done" for racer in racers):
            return None
        return next((one.detail for one in racers if one.detail), phrase("No racer finished."))

    def _compete(
        self, context: DirectContext, call: _Call
    ) -> Generator[Event, Reply | None, Phrase | None]:
        """Run the race up to its proposal, as *call*; return why it could not be."""
        spent_before = context.history.usage
        problem: Phrase | None = None
        card: Card | None = None
        yield ToolStarted(call.id, CALL, {"command": call.line})
        try:
            yield from self._make_copies(context)
            yield from self._run_racers(context, call)
            yield from self._propose(context)
        except UserError as error:
            problem = error.message
            card = TextCard(phrase("The race could not be run."), problem)
        except Stopped:
            pass
        self._usage = context.history.usage - spent_before
        card = map_strings(card or race_card(self._race), self._redact)
        yield self._record(context, call, card, has_failed=problem is not None)
        return problem

    def _record(
        self, context: DirectContext, call: _Call, card: Card, *, has_failed: bool
    ) -> ToolFinished:
        """Keep what came of *call*, and return the event that tells it."""
        state: ResultState = "done"
        if context.stop.is_set() or has_failed:
            state = "stopped" if context.stop.is_set() else "failed"
        code: ErrorCode | None = "internal" if state == "failed" else None
        result = ShellResult(call.id, call.line, "", state, card, call.seconds, is_private=True)
        context.record(replace(result, check=CALL, error_code=code))
        return ToolFinished(call.id, CALL, state, card, result.seconds, error_code=code)

    def _conclude(
        self, context: DirectContext, call: _Call, problem: Phrase | None
    ) -> Generator[Event, Reply | None, None]:
        """Have a result taken, where there is one and nobody has stopped the race."""
        is_stopped, tools = context.stop.is_set(), self._tools
        has_results = any(racer.can_be_taken for racer in self._race.racers)
        if not (problem or is_stopped):
            yield from self._show_results(context)
        if problem or not has_results:
            yield from tools.taker.end(self._race)
        elif is_stopped:
            yield Informed(nothing_taken(self._race))
        else:
            chooser = Chooser(
                *(tools.kept, tools.taker, tools.command), takes_proposed=tools.takes_proposed
            )
            self._taken = yield from chooser.choose(context, self._race, call.id, call.timer)

    # --- copies and racers ------------------------------------------------------------------------

    def _make_copies(self, context: DirectContext) -> Generator[Event, Reply | None, None]:
        """Make a copy for each racer. Raises `UserError`."""
        if refusal := context.over_budget_reason():
            raise UserError(refusal)
        said, tools = self._said, self._tools
        folders = tools.copies.names(said.count)
        model = context.model.model  # type: ignore[attr-defined]
        racers = tuple(
            Racer(
                number,
                str(folder),
                model=said.model_of(number) or model,
                mode=said.mode_of(number, context.mode),
            )
            for number, folder in enumerate(folders, 1)
        )
        self._save(replace(self._race, racers=racers))
        for skipped in tools.copies.clone(folders):
            yield Informed(
                phrase("Not copied: {path}: {why}", path=visible(skipped.path), why=skipped.why)
            )
        for racer in racers:
            session, before = tools.copies.begin(racer, self._race.session, self._race.turn)
            self._keep(replace(racer, session=session, before=before))

    def _run_racers(
        self, context: DirectContext, call: _Call
    ) -> Generator[Event, Reply | None, None]:
        tools = self._tools
        running = Running(
            *(context, call.id, self._said.task, self._race.racers),
            *(tools.open_terminal, self._keep, tools.log_failure, call.timer),
        )
        self._running = running
        try:
            yield from running.run()
        finally:
            self._running = None

    def _keep(self, racer: Racer) -> Racer:
        """Keep *racer* as it is now, with what it has made if it is at its end; return that."""
        if racer.is_at_end:
            racer = self._looked_at(racer)
        self._save(self._race.with_racer(racer))
        return racer

    def _looked_at(self, racer: Racer) -> Racer:
        try:
            found = self._tools.copies.look(racer)
        except UserError as error:  # its folder is gone, or cannot be read
            return replace(racer, state="error", detail=error.message)
        self._diffs[racer.number] = map_strings(list(found.diffs), self._redact)
        return found.of(racer)

    def _save(self, race: KeptRace) -> None:
        self._race = race
        self._tools.kept.save(race)

    # --- results ---------------------------------------------------------------------------------

    def _propose(self, context: DirectContext) -> Generator[Event, Reply | None, None]:
        """Keep which racer is proposed. Raises `Stopped`."""
        if context.stop.is_set():
            raise Stopped
        reader = None if context.is_practice else PairReader(context)
        racers = self._race.racers
        proposal = yield from propose(self._race.task, racers, self._diffs, reader)
        self._save(replace(self._race, proposed=proposal.number, reasons=proposal.reasons))

    def _show_results(self, context: DirectContext) -> Generator[Event, Reply | None, None]:
        """Show what each racer answered and changed, a call for each, then why one is proposed."""
        for racer in self._race.racers:
            name = f"{CALL}-{self._race.turn}-result-{racer.number}"
            text = result_text(racer, self._diffs.get(racer.number, ()))
            card = TextCard(ended_phrase(racer), text)
            command = f"{self._tools.command} show {racer.number}"
            state: ResultState = "done" if racer.state == "done" else "failed"
            result = ShellResult(
                name, command, "", state, card, racer.seconds, is_private=True, check=CALL
            )
            context.record(result)
            yield ToolStarted(name, CALL, {"command": command})
            yield ToolFinished(name, CALL, state, card, racer.seconds)
        for reason in self._race.reasons:
            yield Informed(reason, is_result=self._tools.takes_proposed)
