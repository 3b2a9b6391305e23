"""`/race`: begins races, tells of those that wait for a choice, and clears the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from core.cards import Card, TableCard, TextCard
from core.conversation.store import Store
from core.feature import Feature, OwnTurn, SessionHandle, command, name_of
from core.hooks import (
    AsksAgain,
    BindsToSession,
    FollowsSession,
    PreparesTurns,
    ProvidesNews,
    ProvidesStatus,
)
from modules.checkpoints.undo.recorder import CallRecorder
from modules.pictures.picture_store import PictureStore
from modules.project_copies import ProjectCopies
from modules.storage.data_folder import DataFolder
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.lines import parse_number

if TYPE_CHECKING:
    from core.conversation.history import TurnRecord
    from core.main_terminal import MainTerminal
    from modules.agents.work import Work
    from modules.race.kept_races import KeptRace, KeptRaces, Racer
    from modules.race.race_turn import RaceTurn
    from modules.race.racer_copies import RacerCopies
    from modules.race.racer_thread import LogFailure
    from modules.race.taking import Taker

    OpenRacer = Callable[[Path, Racer], AbstractContextManager[MainTerminal]]

_NO_RACE = phrase("No race waits for a choice. /race 3 TASK starts one.")


class Race(
    Feature,
    AsksAgain,
    BindsToSession,
    FollowsSession,
    PreparesTurns,
    ProvidesNews,
    ProvidesStatus,
):
    """Races in *copies* of the project; *recorder* takes their results into it.

    A race needs `open_racer`, which opens the terminal of a racer in its copy; without, there is
    none. One that `takes_proposed` asks nobody which result to take.
    """

    def __init__(
        self,
        data: DataFolder,
        copies: ProjectCopies,
        store: Store,
        recorder: CallRecorder,
        pictures: PictureStore,
        log_failure: LogFailure,
    ) -> None:
        self._data = data
        self._project_copies = copies
        self._store = store
        self._recorder = recorder
        self._pictures = pictures
        self._log_failure = log_failure
        self._told: set[str] = set()
        self._turn: RaceTurn | None = None  # the last one
        self._session_handle: SessionHandle | None = None
        self.open_racer: OpenRacer | None = None
        self.takes_proposed = False

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    # --- `/race` ---------------------------------------------------------------------------------

    @command(
        "/race [N TASK|show N|take [N]|drop]",
        "Have a task done several times in copies of the folder, and take the best.",
        turn="own_turn",
        changes_files=True,
    )
    def race(self, argument: str) -> Card:
        """Answer what is no turn of its own: `/race`, `/race show N`, `/race drop`."""
        words = argument.split()
        match words:
            case []:
                return self._card()
            case ["show", number]:
                return self._shown(self._racer(number))
            case ["drop"]:
                return self._drop()
            case ["take"]:
                self._choosing()
            case ["take", number]:
                self._racer(number)
        from modules.race.race_line import begins_race, parse_race

        if begins_race(argument):
            parse_race(argument, name_of(Race.race))
            raise UserError(phrase("No race can be started here."))
        raise UserError(
            phrase("Usage: /race N TASK, /race show N, /race take [N], /race drop or /race.")
        )

    def own_turn(self, argument: str) -> OwnTurn | None:
        """Return the turn of a race, or of taking a result; None where it is neither."""
        try:
            if argument == "take":
                return self._choosing()
            if argument.partition(" ")[0] == "take":
                return self._taking(argument)
            return self._race_turn(argument) if argument[:1].isdecimal() else None
        except UserError:  # the command itself says so
            return None

    def _race_turn(self, argument: str) -> OwnTurn | None:
        from modules.race.race_line import parse_race
        from modules.race.race_turn import RaceTools, RaceTurn

        handle = self._session_handle
        if self.open_racer is None or handle is None:
            return None
        said = parse_race(argument, name_of(Race.race))
        self._check_models(said.models)
        tools = RaceTools(
            kept=self._kept,
            copies=self._copies,
            taker=self._taker,
            open_terminal=self._opened,
            log_failure=self._log_failure,
            command=name_of(Race.race),
            takes_proposed=self.takes_proposed,
        )
        race = self._kept.new_id()
        self._told.add(race)  # whoever begins it knows
        self._turn = RaceTurn(tools, said, race, lambda: handle.session)
        return self._turn

    def _opened(self, racer: Racer) -> AbstractContextManager[MainTerminal]:
        if self.open_racer is None:
            raise UserError(phrase("No race can be started here."))
        return self.open_racer(Path(racer.folder), racer)

    def _check_models(self, names: Sequence[str]) -> None:
        """Raise `UserError` where a server lists its models, and not one of *names*."""
        from core.model_choice import served

        for name in names if self._session_handle else ():
            served(self._session_handle.model, name)  # type: ignore[union-attr]

    def _choosing(self) -> OwnTurn:
        from modules.race.choosing import Chooser

        race = self._newest()
        if not any(racer.can_be_taken for racer in race.racers):
            raise UserError(phrase("No racer has changed a file: there is nothing to take."))
        self._told.add(race.id)
        command = name_of(Race.race)
        chooser = Chooser(self._kept, self._taker, command, takes_proposed=self.takes_proposed)
        return lambda context, line, queued: chooser.turn(context, race, line, queued)

    def _taking(self, argument: str) -> OwnTurn | None:
        number = argument.partition(" ")[2].strip()
        race, racer = self._racer(number)
        return lambda context, line, queued: self._taker.turn(context, race, racer, line, queued)

    @cached_property
    def _kept(self) -> KeptRaces:
        from modules.race.kept_races import KeptRaces  # where there are any

        return KeptRaces(self._data.races)

    @property
    def _has_races(self) -> bool:
        """Whether any is kept; quick."""
        return self._data.races.exists()

    @property
    def _copies(self) -> RacerCopies:
        from modules.race.racer_copies import RacerCopies  # for races only

        return RacerCopies(self._project_copies, self._data, self._store, self._pictures)

    @property
    def _taker(self) -> Taker:
        from modules.race.taking import Taker  # for races only

        return Taker(self._kept, self._copies, self._recorder)

    # --- races that wait -------------------------------------------------------------------------

    def waiting(self) -> list[KeptRace]:
        """Return the races of the project that nobody works on and that are not over."""
        if not self._has_races:
            return []
        races = self._kept.all()
        return [one for one in races if not (one.is_over or self._kept.is_running(one))]

    def _newest(self) -> KeptRace:
        """Return the race that a choice is about: of this session first. Raises `UserError`."""
        session = self._session_handle.session if self._session_handle else ""
        waiting = sorted(self.waiting(), key=lambda one: (one.session == session, one.id))
        if not waiting:
            raise UserError(_NO_RACE)
        return self._with_results(waiting[-1])

    def _with_results(self, race: KeptRace) -> KeptRace:
        """Return *race* with what its racers made that a kill kept from coming to an end."""
        for racer in race.racers:
            if racer.before and not racer.after and Path(racer.folder).is_dir():
                race = race.with_racer(self._copies.look(racer).of(racer))
        self._kept.save(race)
        return race

    def _racer(self, number: str) -> tuple[KeptRace, Racer]:
        race = self._newest()
        racer = race.racer(parse_number(number) or 0)
        if racer is None:
            raise UserError(phrase("The race has no racer {n}.", n=number))
        if not racer.can_be_taken:
            raise UserError(phrase("Racer {n} has changed nothing.", n=number))
        return race, racer

    def _card(self) -> Card:
        if not self.waiting():
            return TextCard(_NO_RACE)
        from modules.race.comparison import race_card

        return race_card(self._newest())

    def _shown(self, chosen: tuple[KeptRace, Racer]) -> Card:
        from modules.race.comparison import result_text
        from modules.race.race_phrases import ended_phrase

        _, racer = chosen
        return TextCard(ended_phrase(racer), result_text(racer, self._copies.diffs(racer)))

    def _drop(self) -> Card:
        race = self._newest()
        self._remove(race)
        return TableCard(
            phrase("Removed the copies of the race."),
            tuple((racer.folder,) for racer in race.racers),
        )

    def _remove(self, race: KeptRace) -> None:
        """End *race*, and remove what is left of it as far as that can be."""
        race = replace(race, is_over=True)
        self._kept.save(race)
        if self._copies.remove(race):
            self._kept.remove(race)

    # --- the board -------------------------------------------------------------------------------

    def running_work(self, _: Mapping[str, Sequence[TurnRecord]]) -> Iterable[Work]:
        if not self._has_races:
            return
        from modules.race.race_work import race_work  # for who asks

        for race in self._kept.all():
            if not race.is_over:
                is_running = self._kept.is_running(race)
                yield from race_work(race, self._data, name_of(Race.race), is_running=is_running)

    def stop_work(self, work: str) -> bool:
        return self._turn is not None and self._turn.stop(work)

    # --- what a kill left ------------------------------------------------------------------------

    def on_session_changed(self, session: str) -> None:
        if not session or not self._has_races or self._session_handle is None:
            return
        for race, news in self._news_of(session):
            if self._session_handle.announce(news):
                self._told.add(race.id)

    def line_to_ask_again(self) -> str:
        session = self._session_handle.session if self._session_handle else ""
        waiting = [one for one in self.waiting() if one.session == session]
        return f"{name_of(Race.race)} take" if waiting and waiting[-1].is_asking else ""

    def on_turn_start(self) -> None:
        """Remove what is left of races that are over."""
        if not self._has_races:
            return
        for race in self._kept.all():
            if race.is_over and not self._kept.is_running(race):
                self._remove(race)

    def news(self) -> Sequence[Phrase]:
        if not self._has_races or self._session_handle is None:
            return ()
        found = self._news_of(self._session_handle.session)
        self._told.update(race.id for race, _ in found)
        return [news for _, news in found]

    def _news_of(self, session: str) -> list[tuple[KeptRace, Phrase]]:
        """Return the races of *session* that wait, and what to say of each, if it is untold."""
        found = [one for one in self.waiting() if one.session == session]
        return [
            (
                race,
                phrase(
                    "The race of turn {turn} waits for a choice: /race take shows its results and "
                    "asks.",
                    turn=str(race.turn),
                ),
            )
            for race in found
            if race.id not in self._told and not race.is_asking
        ]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        if not (waiting := self.waiting()):
            return []
        if len(waiting) == 1:
            return [(phrase("Races"), phrase("1 waits for a choice: /race"))]
        return [(phrase("Races"), phrase("{n:,} wait for a choice: /race", n=len(waiting)))]
