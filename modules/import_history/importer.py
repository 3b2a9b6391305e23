"""Import of a conversation that another program, or another Onefold, kept in a JSON file.

`source` reads the file, `reading` each message in it; `matching` finds the call of each answer, and
`mending` makes the records.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.conversation.messages import Assistant, User
from core.conversation.store import SessionInfo
from core.redaction import map_strings
from modules.import_history.old_messages import Repair
from modules.import_history.repair import RepairedHistory, repair_messages
from modules.import_history.source import no_conversation, read_messages
from modules.sessions.rows import title_of
from modules.sessions.store import Sessions
from utils.i18n import Phrase, phrase

__all__ = ["ImportReport", "import_history"]

_MAX_NUMBERS = 8


@dataclass(frozen=True)
class ImportReport:
    """A session made of a file; *turns* are those of the person."""

    session: str
    messages: int
    turns: int
    history: RepairedHistory

    def report(self) -> Iterator[Phrase]:
        """Yield a line about the session and one about each kind of repair."""
        yield phrase(
            "Imported as session {session}: {messages:,} messages, {turns:,} turns.",
            session=self.session,
            messages=self.messages,
            turns=self.turns,
        )
        for repair in Repair:
            if numbers := self.history.repairs.get(repair):
                yield phrase(
                    "Repaired: {what}: {n:,} (message {numbers})",
                    what=repair.value,
                    n=len(numbers),
                    numbers=_number_list(numbers),
                )


def import_history(
    path: Path, store: Sessions, *, model: str, redact: Callable[[str], str]
) -> ImportReport:
    """Make a session of the conversation in the file *path*, redacted by *redact*.

    The file may hold a list of messages of the chat-completions API, or an object with such a list;
    what `/export` and the setting `keep_json` write is read too. Raises `UserError` if there is no
    conversation to be read from it; then nothing is kept.
    """
    messages = read_messages(path)
    history = repair_messages(messages)
    records = [(turn, map_strings(record, redact)) for turn, record in history.records]
    if not any(isinstance(record, User | Assistant) for _, record in records):
        raise no_conversation(path)
    user_messages = [record for _, record in records if isinstance(record, User)]
    now = time.time()
    info = SessionInfo("", title_of(user_messages[0]), model, now, now, len(user_messages))
    return ImportReport(store.adopt(info, records), len(messages), len(user_messages), history)


def _number_list(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MAX_NUMBERS]))
    return f"{shown}, …" if len(numbers) > _MAX_NUMBERS else shown
