"""Memory of the session itself, `WORKING.md`: goals, decisions, open questions.

It is made of the conversation by rule, so it goes with the session wherever that goes: resumed,
forked, rewound. The file is that of the session at hand, for people to read; nobody reads it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.feature import Feature, SessionHandle
from core.hooks import (
    BindsToSession,
    KeepsState,
    ProvidesWarnings,
    RemembersWork,
    RestsAfterTurns,
)
from utils.i18n import Phrase, phrase
from utils.system.atomic_write import write_atomically

if TYPE_CHECKING:
    from core.conversation.history import TurnRecord
    from modules.memory.working_memory import WorkingMemory


class TaskMemory(
    Feature, BindsToSession, KeepsState, RestsAfterTurns, RemembersWork, ProvidesWarnings
):
    """Keeps the working memory of the session in the file *path*."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._session_handle: SessionHandle | None = None
        self._written = ""
        self._warnings: list[Phrase] = []

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def now(self) -> WorkingMemory:
        """Return the working memory of the session as it stands."""
        handle = self._session_handle
        return self.of(handle.history.records if handle else ())

    def of(self, records: Sequence[TurnRecord]) -> WorkingMemory:
        """Return what *records* alone would give."""
        from modules.memory.working_memory import WorkingMemory  # not before a turn is over

        return WorkingMemory.of(records)

    def decided_by_person(self, records: Sequence[TurnRecord]) -> list[str]:
        """Return what the person decided in *records*, which may be worth remembering."""
        from modules.memory.working_memory import decided_by_person  # not before a turn is over

        return decided_by_person(records)

    def lasting_decisions(self) -> list[str]:
        """Return what the session decided that may hold for later ones."""
        from modules.memory.working_memory import lasting_decisions  # not before a turn is over

        handle = self._session_handle
        return lasting_decisions(handle.history.records) if handle else []

    def on_turn_end(self) -> None:
        self._write()

    def state(self) -> dict[str, Any]:
        """Return nothing: all of it is in the conversation."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: ARG002
        """Write what the conversation says that was taken up, or gone back in."""
        self._write()

    def compaction_notes(self) -> str:
        """Return decisions and open questions; the person's words are told again as they are."""
        lines: list[str] = []
        for title, told in self.now().sections()[1:]:
            lines += [f"{title} of this session:", *(f"- {line}" for line in told)] if told else []
        return "\n".join(lines)

    def unfinished_work(self) -> Phrase | None:
        return None

    def warnings(self) -> Sequence[Phrase]:
        pending, self._warnings = self._warnings, []
        return pending

    def _write(self) -> None:
        handle = self._session_handle
        if handle is None or not handle.session or not handle.history.records:
            return
        text = handle.redact(self.now().to_markdown(handle.session))
        if text == self._written:
            return
        try:
            write_atomically(self.path, text.encode("utf-8", "replace"))
        except OSError as error:
            why = error.strerror or str(error)
            self._warnings.append(
                phrase("Cannot write {path}: {why}.", path=str(self.path), why=why)
            )
        self._written = text
