"""The features of a session that see to what it costs, asked as one."""

from __future__ import annotations

from collections.abc import Iterator

from core.hook_members import HookMembers
from core.hooks import LimitsSpending, WeighsThinking
from core.loop.thinking import Mode, Way
from utils.i18n import Phrase, Text
from utils.llm.completion import Usage


class CostFeatures:
    """Those of *members* that know of money."""

    def __init__(self, members: HookMembers) -> None:
        self._spending = members.of(LimitsSpending)
        self._weighing = next(iter(members.of(WeighsThinking)), None)

    def on_spent(self, usage: Usage) -> None:
        """Be told what one model call has cost, before that is kept."""
        for one in self._spending:
            one.on_spent(usage)

    def refusal(self) -> Phrase | None:
        """Return why nothing more may be spent now, or None."""
        refusals = (one.spending_refusal() for one in self._spending)
        return next((refusal for refusal in refusals if refusal), None)

    def rows(self) -> list[tuple[Phrase, Text]]:
        """Return the rows of `/cost` that stand in `/status` too."""
        return [row for one in self._spending for row in one.cost_rows()]

    def delay(self) -> tuple[Phrase, float] | None:
        """Return why the next model call waits, and until when (seconds since the epoch)."""
        delays = (one.spending_delay() for one in self._spending)
        return next((delay for delay in delays if delay), None)

    def notices(self, way: Way) -> Iterator[Phrase]:
        """Yield what is to be said of its cost before a task begins that goes *way*."""
        if self._weighing and (notice := self._weighing.way_notice(way)):
            yield notice
        notices = (one.spending_notice() for one in self._spending)
        yield from [notice for notice in notices if notice][:1]

    # --- thinking --------------------------------------------------------------------------------

    def thinking_way(self, mode: Mode) -> Way:
        """Return how the next task thinks in *mode*: of the two ways there are the cheaper one."""
        if mode == "fast":
            return ""
        return self._weighing.cheaper_way() if self._weighing else "once"

    def switch_note(self, mode: Mode) -> Text:
        """Return what the next task costs more if it is done in *mode*, "" for nothing."""
        return self._weighing.switch_note(mode) if self._weighing else ""

    def on_switch_told(self, mode: Mode) -> None:
        """Be told that the person has just read `switch_note`: the next task need not say it."""
        if self._weighing:
            self._weighing.on_switch_told(mode)

    def thinking_rows(self, mode: Mode) -> list[tuple[Phrase, Text]]:
        """Return the rows of `/cost` on the ways to think."""
        return list(self._weighing.thinking_rows(mode)) if self._weighing else []
