"""A session that another Onefold runs, read as it grows there."""

from __future__ import annotations

from core.web_terminal import WebTerminal


class ReadAlong:
    """Reads the session of *terminal* anew. To be used under the lock of its seat."""

    def __init__(self, terminal: WebTerminal) -> None:
        self._terminal = terminal
        self._seen: tuple[float, int] | None = None

    def look(self, *, is_needed: bool) -> bool:
        """Read it anew if another runs it and it went on there, or *is_needed*; return whether."""
        if not self._terminal.held:
            return False
        info = self._terminal.store.info(self._terminal.session)
        mark = info.updated, info.turns
        if mark == self._seen and not is_needed:
            return False
        self._seen = mark
        self._terminal.sessions.look_again()
        return True
