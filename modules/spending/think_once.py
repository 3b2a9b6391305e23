"""Think-once, done knowingly: what a switch of mode costs, and which way to think is cheaper."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from core.conversation.messages import Assistant
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, WeighsThinking
from core.loop.thinking import Mode, Way
from modules.spending.past_tasks import WAY_OF_FIRST, PastTasks
from utils.i18n import Phrase, Text

if TYPE_CHECKING:
    from modules.spending.thinking_costs import ThinkingCosts


class ThinkOnce(Feature, BindsToSession, WeighsThinking):
    """Weighs the ways to think of a session by *past_tasks* of its project and by prices.

    Servers keep what they have read of a conversation apart for each effort: a task that thinks at
    its first call alone has it read twice. Where there is no price, or the effort cannot be
    chosen, it goes that way all the same.
    """

    _session: SessionHandle

    def __init__(self, past_tasks: PastTasks, *, clock: Callable[[], float] = time.time) -> None:
        self._past_tasks = past_tasks
        self.clock = clock
        self._told: tuple[str, Way] | None = None
        """A session, and the way of its last task, or of the next one where that was told."""

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    @cached_property
    def _costs(self) -> ThinkingCosts:
        from modules.spending.thinking_costs import ThinkingCosts  # once somebody wants to know

        return ThinkingCosts(self._session, self._past_tasks, lambda: self.clock())

    def cheaper_way(self) -> Way:
        return self._costs.cheaper_way()

    def way_notice(self, way: Way) -> Phrase | None:
        session, told = self._session.session, self._told
        last = told[1] if told and told[0] == session else self._last_way()
        self._told = session, way
        return self._costs.note(way) if way != last else None

    def switch_note(self, mode: Mode) -> Text:
        return self._costs.note(self._way_of(mode)) or ""

    def on_switch_told(self, mode: Mode) -> None:
        self._told = self._session.session, self._way_of(mode)

    def _way_of(self, mode: Mode) -> Way:
        return "" if mode == "fast" else self.cheaper_way()

    def thinking_rows(self, mode: Mode) -> Iterable[tuple[Phrase, Text]]:
        return self._costs.rows(mode)

    def _last_way(self) -> Way:
        """Return how the last task of the session thought, before the one that begins."""
        history = self._session.history
        turn = 0
        way: Way = ""
        for number, record in reversed(history.log):
            if turn and number != turn:
                break
            if isinstance(record, Assistant) and number < history.turn:
                turn, way = number, WAY_OF_FIRST[record.effort]
        return way
