"""What there is to see of a session: its state, and the events that lead to its picture."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress

from core.redaction import mapped
from core.web_terminal import LogTruncated, Packet, WebTerminal
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.focus import Focus
from modules.todos import Todos
from modules.web.sessions.page_redaction import PageRedactor
from utils.text.codec import to_plain


class SessionSnapshot:
    """Shows the session of *terminal*; *standing* tells what only its seat knows of it.

    What was said before a secret became one shows it no more, as *veil* knows it by then. Nothing
    here takes a lock of the seat: `state` is asked for while the terminal holds its own.
    """

    def __init__(
        self, terminal: WebTerminal, veil: PageRedactor, standing: Callable[[], Packet]
    ) -> None:
        self._terminal = terminal
        self._veil = veil
        self._standing = standing
        self._revisions = itertools.count(1)
        self._hidden = 0

    def begin(self) -> None:
        """Take note that the terminal is about to read its session, without what is secret now."""
        self._veil.glance()
        self._hidden = self._veil.known

    def arrive(self, boot: str, after: int, turns: int) -> Packet:
        """Return what leads from *after* in the run *boot* to the picture of now."""
        self._veil.glance()
        terminal = self._terminal
        here = {"session": terminal.session, "boot": terminal.boot, "state": self.state()}
        if boot == terminal.boot:
            with suppress(LogTruncated):
                events = terminal.since(after)
                head = events[-1]["seq"] if events else after
                return {"mode": "replay", "head": head, "events": events, **here}
        head, first, events = terminal.snapshot(turns)
        told = {"mode": "snapshot", "head": head, "first_turn": first}
        return {**told, "events": self._veiled(events), **here}

    def earlier(self, before: int, turns: int) -> tuple[int, list[Packet]]:
        """Return the first turn and the events of the last *turns* before turn *before*."""
        self._veil.glance()
        first, events = self._terminal.earlier(before, turns)
        return first, self._veiled(events)

    def _veiled(self, events: list[Packet]) -> list[Packet]:
        is_known_all = self._veil.known <= self._hidden
        return events if is_known_all else mapped(events, self._veil.hidden)

    def state(self) -> Packet:
        """Return all that is true of the session besides its talk.

        The revision is drawn first, so that what has a higher one was never looked at earlier.
        """
        revision = next(self._revisions)
        terminal = self._terminal
        used, limit = terminal.context_used
        standing = self._standing()
        return {
            "session": terminal.session,
            "boot": terminal.boot,
            "revision": revision,
            **standing,
            "title": self._veil.hidden(standing["title"]),
            "turn": terminal.history.turn,
            "model": terminal.model.model,
            "practice": terminal.is_practice,
            "held": to_plain(terminal.held),
            "asked": list(terminal.asked),
            "mode": terminal.mode,
            "approval": terminal.approval.mode,
            "patterns": list(terminal.approval.patterns),
            "context": {"used": used, "limit": limit, "parts": terminal.parts()},
            "usage": to_plain(terminal.usage),
            "focus": self.focus(),
            "todos": self._todos(),
            "changes": self._changes(),
        }

    def focus(self) -> list[Packet]:
        for family in self._terminal.families:
            if isinstance(family, Focus):
                return [{"path": path, "tokens": n} for path, n in family.tokens().items()]
        return []

    def _todos(self) -> list[Packet]:
        for family in self._terminal.families:
            if isinstance(family, Todos):
                return mapped(family.state()["todos"], self._veil.hidden)
        return []

    def _changes(self) -> int:
        """Return the number of what is known of changes; another one means to ask anew."""
        undo = (family for family in self._terminal.families if isinstance(family, UndoCommands))
        return next((family.revision for family in undo), 0)
