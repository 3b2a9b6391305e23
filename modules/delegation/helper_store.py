"""The place where a helper keeps its records: the log of the session that made it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.conversation.helper_records import helper_record, records_of_open_helper
from core.conversation.history import ASKED
from core.conversation.messages import Record, StateRecord
from core.conversation.store import SessionInfo, SessionMatch
from utils.i18n import Phrase, Text

if TYPE_CHECKING:
    from core.conversation.figures import Spent
    from core.main_terminal import MainTerminal


class OpenQuestions:
    """Knows the helpers of *parent* that wait for the person: while one does, its call counts as
    asked about, so that who leaves leaves all calls open that have no answer yet."""

    def __init__(self, parent: MainTerminal) -> None:
        self._parent = parent
        self._asking: dict[str, None] = {}
        self._lock = threading.Lock()

    def note(self, call_id: str, *, is_open: bool) -> None:
        """Keep whether the helper that is the call *call_id* waits."""
        with self._lock:
            if is_open:
                self._asking[call_id] = None
            else:
                self._asking.pop(call_id, None)
            self._parent.record(StateRecord(ASKED, next(iter(self._asking), "")))


class HelperStore:
    """Keeps the one session of the helper that is the call *call_id* of *parent*.

    It has the id of its parent's, whose pictures and outputs are the same.
    """

    def __init__(self, parent: MainTerminal, call_id: str, questions: OpenQuestions) -> None:
        self._parent = parent
        self._call_id = call_id
        self._questions = questions
        self._turn = parent.history.turn

    def create(self, *, model: str, parent: str = "") -> str:  # noqa: ARG002
        return self._parent.session

    def append(self, session: str, turn: int, *records: Record) -> None:  # noqa: ARG002
        for record in records:
            self._parent.record(helper_record(self._call_id, record))
            match record:
                case StateRecord("asked", call_id):
                    self._questions.note(self._call_id, is_open=bool(call_id))

    def fork(self, session: str, turn: int) -> str:
        raise NotImplementedError("a helper's session is no session of its own")

    def load(self, session: str) -> list[tuple[int, Record]]:  # noqa: ARG002
        return records_of_open_helper(self._parent.history.log, self._turn, self._call_id)

    def length(self, session: str) -> int:
        return len(self.load(session))

    def seconds(self, session: str) -> Mapping[int, float]:  # noqa: ARG002
        return {}

    def spent(self) -> Sequence[Spent]:
        return self._parent.store.spent()

    def claim(self, session: str) -> None:
        """Do nothing: whoever runs the parent has it."""

    def claimed(self) -> Sequence[str]:
        return self._parent.store.claimed()

    def holder(self, session: str) -> int | None:
        return self._parent.store.holder(session)

    def release(self, session: str) -> None:
        """Do nothing: the parent has it still."""

    def sessions(self, limit: int = 50) -> Sequence[SessionInfo]:
        return self._parent.store.sessions(limit)

    def info(self, session: str) -> SessionInfo:
        return self._parent.store.info(session)

    def find(self, id_prefix: str) -> str:  # noqa: ARG002
        return self._parent.session

    def warnings(self) -> Sequence[Phrase]:
        return ()

    def status(self) -> Sequence[tuple[Phrase, Text]]:
        return ()

    def search(self, text: str, limit: int = 20) -> Sequence[SessionMatch]:
        return self._parent.store.search(text, limit)
