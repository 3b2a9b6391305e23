"""Snapshot of a session: its state, and the events that rebuild what a screen shows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress

from core.conversation.event_log import LogTruncated
from core.conversation.transcript import Packet
from core.loop.thinking import Mode
from core.redaction import map_strings
from core.web_terminal import WebTerminal
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.depth.feature import TaskDepth
from modules.focus import Focus
from modules.jobs.feature import Jobs
from modules.todos import Todos
from modules.web.sessions.page_redaction import PageRedactor
from utils.i18n import Text
from utils.text.codec import to_plain


class SessionSnapshot:
    """Snapshot of the session of *terminal*; *run_state* returns what only its runner knows.

    Events from before a secret became one are redacted as *redactor* knows it by then. Nothing
    here takes a lock of the runner: `state` is asked for while the terminal holds its own.
    """

    def __init__(
        self, terminal: WebTerminal, redactor: PageRedactor, run_state: Callable[[], Packet]
    ) -> None:
        self._terminal = terminal
        self._redactor = redactor
        self._run_state = run_state
        self._revisions = itertools.count(1)
        self._redacted_count = 0

    def before_resume(self) -> None:
        """Note how many secrets are known as the terminal is about to read its session."""
        self._redactor.refresh_if_stale()
        self._redacted_count = self._redactor.secret_count

    def attach(self, boot: str, after: int, turns: int) -> Packet:
        """Return what leads from *after* in the run *boot* to the picture of now."""
        self._redactor.refresh_if_stale()
        delivery = self._terminal.delivery
        common = {
            "session": self._terminal.session,
            "boot": delivery.boot,
            "state": self.state(),
        }
        if boot == delivery.boot:
            with suppress(LogTruncated):
                events = delivery.since(after)
                head = events[-1]["seq"] if events else after
                return {"mode": "replay", "head": head, "events": events, **common}
        head, first, events = delivery.snapshot(turns)
        reply = {"mode": "snapshot", "head": head, "first_turn": first}
        return {**reply, "events": self._redacted(events), **common}

    def earlier(self, before: int, turns: int) -> tuple[int, list[Packet]]:
        """Return the first turn and the events of the last *turns* before turn *before*."""
        self._redactor.refresh_if_stale()
        first, events = self._terminal.delivery.earlier(before, turns)
        return first, self._redacted(events)

    def _redacted(self, events: list[Packet]) -> list[Packet]:
        is_known_all = self._redactor.secret_count <= self._redacted_count
        return events if is_known_all else map_strings(events, self._redactor.redact)

    def state(self) -> Packet:
        """Return the state of the session: all but its events.

        The revision is drawn first, so that what has a higher one was never looked at earlier.
        """
        revision = next(self._revisions)
        terminal = self._terminal
        used, limit = terminal.context_used
        run_state = self._run_state()
        return {
            "session": terminal.session,
            "boot": terminal.delivery.boot,
            "revision": revision,
            **run_state,
            "title": self._redactor.redact(run_state["title"]),
            "turn": terminal.history.turn,
            "model": terminal.model.model,
            "practice": terminal.is_practice,
            "held": to_plain(terminal.locked_by),
            "asked": list(terminal.open_questions),
            "asked_keys": list(terminal.open_question_keys),
            "mode": terminal.mode,
            "switch": None if run_state["running"] else to_plain(self._switch_note()),
            "depth": self._depth(),
            "approval": terminal.approval.mode,
            "after_plan": terminal.approval.after_plan,
            "patterns": list(terminal.approval.patterns),
            "context": {"used": used, "limit": limit, "parts": terminal.tokens_by_part()},
            "usage": to_plain(terminal.usage),
            "yuan": terminal.yuan_per_dollar,
            "focus": self.focus(),
            "todos": self._todos(),
            "background": self._background(),
            "changes": self._changes(),
        }

    def _switch_note(self) -> Text:
        """Return what it costs to go over to the other mode."""
        other: Mode = "fast" if self._terminal.mode == "think" else "think"
        return self._terminal.features.costs.switch_note(other)

    def _depth(self) -> str:
        """Return how deep the last task went, "" before the first one."""
        depth = self._terminal.features.find(TaskDepth)
        return (depth.last_depth if depth else None) or ""

    def focus(self) -> list[Packet]:
        focus = self._terminal.features.find(Focus)
        return [{"path": path, "tokens": n} for path, n in focus.tokens().items()] if focus else []

    def _todos(self) -> list[Packet]:
        todos = self._terminal.features.find(Todos)
        return map_strings(todos.state()["todos"], self._redactor.redact) if todos else []

    def _background(self) -> list[Packet]:
        jobs = self._terminal.features.find(Jobs)
        return map_strings(to_plain(jobs.rows()), self._redactor.redact) if jobs else []

    def _changes(self) -> int:
        """Return the revision of the changes; another one means to ask anew."""
        undo = self._terminal.features.find(UndoCommands)
        return undo.revision if undo else 0
