"""Follower of a session that another Onefold runs, reloaded as it grows there."""

from __future__ import annotations

from core.web_terminal import WebTerminal


class ExternalFollower:
    """Reloads the session of *terminal*. To be used under the lock of its runner."""

    def __init__(self, terminal: WebTerminal) -> None:
        self._terminal = terminal
        self._last_mark: tuple[float, int, int, bool] | None = None

    def refresh(self, *, is_forced: bool, takes_over: bool) -> bool:
        """Reload it if another process runs it and it grew, or *is_forced*; return whether.

        Where nobody runs it any more, it is ours then if that *takes_over*.
        """
        if not self._terminal.locked_by:
            return False
        store, session = self._terminal.store, self._terminal.session
        info = store.info(session)
        mark = info.updated, info.turns, store.length(session), takes_over
        if mark == self._last_mark and not is_forced:
            return False
        self._last_mark = mark
        self._terminal.sessions.refresh_read_only(takes_over=takes_over)
        return True
