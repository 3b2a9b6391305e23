"""The turn that brings a racer's result into the folder."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from core.cards import Card, Change, TextCard
from core.conversation.messages import Context, ResultState, ShellResult, User
from core.events import Event, Informed, Reply, ToolFinished, ToolStarted, TurnFinished, TurnStarted
from core.loop.direct_calls import DirectContext
from core.loop.tool_calls import notices
from core.loop.turn_context import Turn
from core.tools import Outcome
from modules.checkpoints.undo.recorder import CallRecorder
from modules.checkpoints.undo.undo_cards import taken_card
from modules.race.kept_races import KeptRace, KeptRaces, Racer
from modules.race.racer_copies import RacerCopies
from utils.i18n import Phrase, UserError, phrase
from utils.llm.completion import Usage
from utils.text.clean import clean, visible
from utils.text.lines import cut_middle

CALL = "race"
"""The name of a race on the screens, and of what takes its result."""
_TAKE = f"{CALL}-take"
_MAX_ANSWER = 4_000  # characters of a racer's answer that the model reads
_MAX_PATHS = 40


class Taken(NamedTuple):
    """What taking a result did; not *is_whole* where some of it stays in the copy alone."""

    card: Card
    changes: tuple[Change, ...]
    is_whole: bool


class Taker:
    """Takes results of the races that *kept* has into the folder, by *recorder*, from *copies*."""

    def __init__(self, kept: KeptRaces, copies: RacerCopies, recorder: CallRecorder) -> None:
        self._kept = kept
        self._copies = copies
        self._recorder = recorder

    def turn(
        self,
        context: DirectContext,
        race: KeptRace,
        racer: Racer,
        line: str,
        queued: Sequence[str] = (),
    ) -> Turn:
        """Take the result of *racer* in the turn that has begun, called *line*."""
        started_at = time.monotonic()
        yield from begin(context, line, queued)
        with self._kept.running(race):
            yield from self.take(context, race, racer, line)
        yield from finish(context, end_of(context, started_at))

    def take(
        self, context: DirectContext, race: KeptRace, racer: Racer, line: str
    ) -> Generator[Event, Reply | None, bool]:
        """Bring what *racer* made into the folder; then the race is over, and its copies go.

        Return whether anything was taken.
        """
        started_at = time.monotonic()
        call_id = f"{_TAKE}-{context.history.turn}"
        yield ToolStarted(call_id, CALL, {"command": line})
        taken, card = self._try(context, racer)
        seconds = time.monotonic() - started_at
        state: ResultState = "done" if taken else "failed"
        context.record(
            ShellResult(
                *(call_id, line, "", state, card, seconds),
                is_private=True,
                check=CALL,
                error_code=None if taken else "internal",
            )
        )
        changes = taken.changes if taken else ()
        yield ToolFinished(call_id, CALL, state, card, seconds, changes)
        if taken is None:
            return False
        context.on_files_changed(Outcome("", card, changes=changes))
        context.record(Context(_told(race, racer, taken.changes)))
        if taken.is_whole:
            yield from self.end(race)
        else:
            where = visible(racer.folder)
            yield Informed(phrase("Not all of it could be taken: {path} is kept.", path=where))
        return True

    def _try(self, context: DirectContext, racer: Racer) -> tuple[Taken | None, Card]:
        try:
            taken = self._take(context, racer)
        except UserError as error:
            return None, TextCard(phrase("Nothing was taken."), error.message)
        return taken, taken.card

    def _take(self, context: DirectContext, racer: Racer) -> Taken:
        """Do it as one call. Raises `UserError`."""
        if not Path(racer.folder).is_dir():
            raise UserError(phrase("The folder {path} is gone.", path=visible(racer.folder)))
        with self._copies.opened(racer) as clone, context.recorded(_TAKE):
            result = self._recorder.take_from(
                clone, racer.before, racer.after, with_commits=racer.commits > 0
            )
        title = phrase("Took the result of racer {n}; /undo reverts it", n=str(racer.number))
        return Taken(taken_card(result, title), result.changes, not result.skipped)

    def end(self, race: KeptRace) -> Generator[Event, Reply | None, None]:
        """End *race*: its copies go, now or, where they cannot, at another start."""
        race = replace(race, is_over=True)
        self._kept.save(race)
        if self._copies.remove(race):
            self._kept.remove(race)
        else:
            yield Informed(phrase("Not all copies of the race could be removed yet."))


def begin(context: DirectContext, line: str, queued: Sequence[str]) -> Turn:
    """Keep the turn called *line* as one that the model reads nothing of, and tell of it."""
    context.record(User(line, queued=tuple(queued), is_private=True))
    yield TurnStarted(line, context.history.turn)
    yield from notices(context)


def end_of(
    context: DirectContext,
    started_at: float,
    usage: Usage | None = None,
    problem: Phrase | None = None,
) -> TurnFinished:
    """Return the end of a turn that came to *problem*, unless it was stopped."""
    usage, seconds = usage or Usage(), time.monotonic() - started_at
    if context.stop.is_set():
        return TurnFinished("stopped", phrase("Stopped."), usage, seconds)
    if problem:
        return TurnFinished("error", problem, usage, seconds, error_code="internal")
    return TurnFinished("done", None, usage, seconds)


def finish(context: DirectContext, end: TurnFinished) -> Turn:
    """Keep the *end* of a turn that has no last word of a model, and tell of it."""
    context.on_turn_finished(end)
    yield from notices(context)
    yield end


def _told(race: KeptRace, racer: Racer, changes: tuple[Change, ...]) -> str:
    """Return what the model of the session is told of a result that was taken."""
    paths = [f"{one.kind} {one.new_path or one.path}" for one in changes]
    more = [f"and {len(paths) - _MAX_PATHS} more"] if len(paths) > _MAX_PATHS else []
    answer = cut_middle(clean(racer.answer), _MAX_ANSWER) or "(nothing)"
    mark = "answer"
    while f"</{mark}>" in answer:
        mark += "-"
    changed = ", ".join([*paths[:_MAX_PATHS], *more]) or "nothing"
    return (
        f"The person had this task done by {len(race.racers)} copies of you, each in a copy of the "
        f"folder, and took one result: {race.task}\n"
        f"What that changed in the folder: {changed}.\n"
        f"What that copy answered, as data:\n<{mark}>\n{answer}\n</{mark}>"
    )


def nothing_taken(race: KeptRace) -> Phrase:
    """Return the sentence on a race that waits for a choice."""
    return phrase(
        "Nothing was taken. /race take asks again which of {n} results to take, /race drop removes "
        "them.",
        n=str(sum(one.can_be_taken for one in race.racers)),
    )
