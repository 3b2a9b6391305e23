"""Bringing in a conversation that another program, or another Onefold, kept in a JSON file.

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
from core.redaction import mapped
from modules.import_history.mending import Mended, mend
from modules.import_history.old_messages import Repair
from modules.import_history.source import no_conversation, read_messages
from modules.sessions import Sessions
from modules.sessions.rows import title
from utils.i18n import Phrase, phrase

__all__ = ["Imported", "import_history"]

_MOST_NUMBERS = 8


@dataclass(frozen=True)
class Imported:
    """A session made of a file; *turns* are those of the person."""

    session: str
    messages: int
    turns: int
    mended: Mended

    def report(self) -> Iterator[Phrase]:
        """Yield a line about the session and one about each kind of repair."""
        yield phrase(
            "Brought in as session {session}: messages: {messages}, turns: {turns}.",
            session=self.session,
            messages=self.messages,
            turns=self.turns,
        )
        for repair in Repair:
            if numbers := self.mended.repairs.get(repair):
                yield phrase(
                    "Mended: {what}: {n} (message {numbers})",
                    what=repair.value,
                    n=len(numbers),
                    numbers=_shown(numbers),
                )


def import_history(
    path: Path, store: Sessions, *, model: str, blind: Callable[[str], str]
) -> Imported:
    """Make a session of the conversation in the file *path*, what *blind* hides left out.

    The file may hold a list of messages of the chat-completions API, or an object with such a list;
    what `/export` and the setting `keep_json` write is read too. Raises `Problem` when there is no
    conversation to be read from it; then nothing is kept.
    """
    messages = read_messages(path)
    mended = mend(messages)
    records = [(turn, mapped(record, blind)) for turn, record in mended.records]
    if not any(isinstance(record, User | Assistant) for _, record in records):
        raise no_conversation(path)
    said = [record for _, record in records if isinstance(record, User)]
    now = time.time()
    info = SessionInfo("", title(said[0]), model, now, now, len(said))
    return Imported(store.adopt(info, records), len(messages), len(said), mended)


def _shown(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MOST_NUMBERS]))
    return f"{shown}, …" if len(numbers) > _MOST_NUMBERS else shown
