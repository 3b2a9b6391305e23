"""The conversation as one JSON file after each turn, for other programs to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.conversation.messages import Record, StateRecord, ToolResult
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, FinishesTurns, ProvidesStatus, ProvidesWarnings
from core.redaction import map_strings
from utils.i18n import Phrase, phrase
from utils.system.atomic_write import write_atomically


class KeepJson(Feature, BindsToSession, ProvidesStatus, ProvidesWarnings, FinishesTurns):
    """Keeps the messages of the session, those of tools included, in the file *path*.

    They stand there whole, in the form of the chat-completions API, without what was taken back and
    without what nobody may see. Of several sessions the one whose turn ended last is there.
    """

    _session_handle: SessionHandle

    def __init__(self, path: Path) -> None:
        self._path = path
        self._warnings: list[Phrase] = []
        self._has_failed = False

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def status(self) -> Sequence[tuple[Phrase, str]]:
        return [(phrase("Conversation as JSON"), str(self._path))]

    def warnings(self) -> Sequence[Phrase]:
        pending, self._warnings = self._warnings, []
        return pending

    def on_turn_finished(self) -> None:
        records = [record for _, record in self._session_handle.history.records]
        messages = to_messages(map_strings(records, self._session_handle.redact))
        text = json.dumps(messages, ensure_ascii=False, indent=2) + "\n"
        try:
            # Halves of a surrogate pair become the escapes that JSON has for them.
            write_atomically(self._path, text.encode("utf-8", "backslashreplace"))
            self._has_failed = False
        except OSError as error:
            self._fail(error.strerror or str(error))

    def _fail(self, why: str) -> None:
        if not self._has_failed:
            path = str(self._path)
            self._warnings.append(phrase("Cannot write {path}: {why}.", path=path, why=why))
        self._has_failed = True


def to_messages(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return *records* as messages; those of tools bear the name of their tool as well."""
    return [
        record.to_wire() | ({"name": record.name} if isinstance(record, ToolResult) else {})
        for record in records
        if not isinstance(record, StateRecord)
    ]
