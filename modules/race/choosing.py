"""The choice of a race: which result is taken, asked at its end or, when that was left, later."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import replace

from core.cards import TextCard
from core.conversation.messages import ResultState, ShellResult
from core.events import Event, Informed, PersonQuestion, Reply, ToolFinished, ToolStarted
from core.loop.direct_calls import DirectContext
from core.loop.tool_calls import ApprovalTimer, question_event
from core.loop.turn_context import Turn
from modules.race.comparison import race_card
from modules.race.kept_races import KeptRace, KeptRaces, Racer
from modules.race.race_phrases import WHICH
from modules.race.taking import CALL, Taker, begin, end_of, finish, nothing_taken
from utils.i18n import Phrase, phrase

_NONE = phrase("None; remove all copies")


class Chooser:
    """Has the person take one result of a race that *kept* has, or none, by *taker*.

    *command* is what a race is typed as. One that *takes_proposed* asks nobody.
    """

    def __init__(
        self, kept: KeptRaces, taker: Taker, command: str, *, takes_proposed: bool
    ) -> None:
        self._kept = kept
        self._taker = taker
        self._command = command
        self._takes_proposed = takes_proposed

    def turn(
        self, context: DirectContext, race: KeptRace, line: str, queued: Sequence[str] = ()
    ) -> Turn:
        """Show what *race* has come to and choose, in the turn that has begun, called *line*."""
        started_at, timer = time.monotonic(), ApprovalTimer()
        yield from begin(context, line, queued)
        call_id = f"{CALL}-{context.history.turn}"
        with self._kept.running(race):
            card = race_card(race)
            context.record(
                ShellResult(call_id, line, "", "done", card, 0.0, is_private=True, check=CALL)
            )
            yield ToolStarted(call_id, CALL, {"command": line})
            yield ToolFinished(call_id, CALL, "done", card, 0.0)
            yield from map(Informed, race.reasons)
            yield from self.choose(context, race, call_id, timer)
        yield from finish(context, end_of(context, started_at + timer.seconds))

    def choose(
        self, context: DirectContext, race: KeptRace, call_id: str, timer: ApprovalTimer
    ) -> Generator[Event, Reply | None, int]:
        """Have one result taken, or none; return the number of its racer, 0 where none was.

        With nobody there all stay as they are. *call_id* is the call that showed them.
        """
        number: int | None = race.proposed or None
        if not self._takes_proposed:
            number = yield from self._ask(context, race, call_id, timer)
        if number == 0:
            yield from self._taker.end(race)
            yield Informed(phrase("Nothing was taken; the copies are removed."))
        elif number and (racer := race.racer(number)):
            line = f"{self._command} take {number}"
            if (yield from self._taker.take(context, race, racer, line)):
                return number
        else:
            yield Informed(nothing_taken(race))
        return 0

    def _ask(
        self, context: DirectContext, race: KeptRace, call_id: str, timer: ApprovalTimer
    ) -> Generator[Event, Reply | None, int | None]:
        """Return the number of the racer to take, 0 for none of them, None for no answer."""
        ready = [one for one in race.racers if one.can_be_taken]
        choices = [*((_choice(race, racer), racer.number) for racer in ready), (_NONE, 0)]
        question = PersonQuestion(WHICH, tuple(choice for choice, _ in choices))
        asked_id = f"{call_id}-choice"
        yield ToolStarted(asked_id, CALL, {"command": f"{self._command} take"})
        # Kept until there is an answer: who leaves in the midst of it is asked again.
        self._kept.save(replace(race, is_asking=True))
        reply = yield from timer.ask(question_event(asked_id, CALL, question))
        self._kept.save(replace(race, is_asking=False))
        said = reply.text.strip() if reply and reply.yes else ""
        found = next((n for choice, n in choices if said in (str(choice), str(n))), None)
        state: ResultState = "stopped" if context.stop.is_set() else "done"
        yield ToolFinished(asked_id, CALL, state, TextCard(WHICH, said), 0.0)
        return None if context.stop.is_set() else found


def _choice(race: KeptRace, racer: Racer) -> Phrase:
    number = str(racer.number)
    if racer.number == race.proposed:
        return phrase("Racer {n} (proposed)", n=number)
    return phrase("Racer {n}", n=number)
