"""The home of programs, for people: how much is in it, and emptying it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.cards import Card, TextCard
from core.feature import Feature, command
from core.hooks import ProvidesStatus, ProvidesWarnings
from modules.sandbox.home.program_home import ProgramHome
from utils.i18n import Phrase, Text, UserError, phrase


class Clean(Feature, ProvidesStatus, ProvidesWarnings):
    """Empties the home of the project's programs when a person says so."""

    def __init__(self, home: ProgramHome) -> None:
        self._home = home

    @command("/clean", "Empty the programs' home folder (caches and tool data).")
    def clean(self, argument: str) -> Card:
        if argument:
            raise UserError(phrase("/clean takes no arguments."))
        freed = self._home.clean()
        if not freed.files:
            return TextCard(phrase("The programs' home folder was already empty."))
        title = phrase(
            "Emptied the programs' home folder. Freed {size} MB, {files:,} files.",
            size=_megabytes(freed.size),
            files=freed.files,
        )
        if freed.is_measured:
            return TextCard(title)
        return TextCard(title, phrase("There is more: some content is locked or nested too deep."))

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        if not self._home.max_size:
            return
        limit = _megabytes(self._home.max_size)
        if usage := self._home.usage:
            summary = phrase(
                "{size} of {limit} MB, {files:,} files · /clean empties it",
                size=_megabytes(usage.size),
                limit=limit,
                files=usage.files,
            )
        else:
            summary = phrase("at most {limit} MB · /clean empties it", limit=limit)
        yield phrase("The programs' home folder"), summary

    def warnings(self) -> Sequence[Phrase]:
        return self._home.warnings()


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f}".removesuffix(".0")
