"""The terminals of racers: what a race has in each copy of the project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from config import ROOT, Settings

if TYPE_CHECKING:
    from core.main_terminal import MainTerminal
    from modules.race.kept_races import Racer
    from utils.llm.providers import ModelClient


@dataclass(frozen=True)
class RacerOpener:
    """Opens terminals like *origin* in copies of its project, as *furnish* makes them.

    What they spend is kept by *origin*, whose budgets are theirs together; what was approved there
    holds for them, and no more.
    """

    origin: MainTerminal
    settings: Settings
    furnish: Callable[..., MainTerminal]
    is_practice: bool
    is_machine: bool

    @contextmanager
    def __call__(self, folder: Path, racer: Racer) -> Iterator[MainTerminal]:
        """Open the terminal of *racer* in its *folder* and session. Raises `UserError`."""
        from core.main_terminal import MainTerminal
        from modules.app_context import AppContext

        app_context = AppContext.of(
            *(folder, self.settings.data_dir, self.settings.api_keys),
            root=ROOT,
            loader_paths=self.settings.loader_paths,
        )
        try:
            model = cast("ModelClient", self.origin.model)
            model.warm()  # what is made by now is shared, the connections above all
            create = partial(MainTerminal, model=model.for_other_conversation())
            terminal = self._furnished(create, app_context)
            try:
                terminal.resume(racer.session)
                self._set_up(terminal, racer)
                yield terminal
            finally:
                terminal.close()
        finally:
            app_context.store.close()
            app_context.project.close()

    def _furnished(self, create: Callable[..., MainTerminal], app_context: object) -> MainTerminal:
        from modules.race.unkept_ledger import UnkeptLedger

        settings = replace(
            self.settings, task_budget=0.0, daily_budget=0.0, budget_usd=0.0, trace=""
        )
        return self.furnish(
            *(create, app_context, settings),
            is_practice=self.is_practice,
            is_machine=self.is_machine,
            ledger=UnkeptLedger(),
        )

    def _set_up(self, terminal: MainTerminal, racer: Racer) -> None:
        """Have *terminal* work as its origin does, but as *racer* is said to."""
        from modules.race.feature import Race

        terminal.project = self.origin.project
        terminal.take_settings_of(self.origin)
        terminal.approval.outside = self.origin.approval.outside
        terminal.approval.patterns[:] = self.origin.approval.patterns
        terminal.approval.kept = self.origin.approval.kept
        terminal.step_limit = self.origin.step_limit
        terminal.mode = racer.mode
        terminal.model.model = racer.model
        if race := terminal.features.find(Race):
            race.open_racer = None  # of one depth
