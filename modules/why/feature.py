"""The command `/why`: who wrote a line, in which call, and the words that asked for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

from core.cards import Card, OriginsCard
from core.conversation.store import Store
from core.feature import Feature, SessionHandle, command
from core.hooks import BindsToSession, RecordsPerson
from core.tools import ToolError
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.files.project import MissingPath, Project
from modules.notes.note_target import NoteTarget
from utils.i18n import UserError, phrase
from utils.text.clean import visible

if TYPE_CHECKING:
    from modules.checkpoints.line_origins.origins import FileOrigins
    from modules.why.reasons import Reasons

_MAX_WITH_RECEIPTS = 20
"""Origins of which the receipts are looked at as well: each takes a look at the files."""


class Why(Feature, BindsToSession, RecordsPerson):
    """Tells where the lines of *project* come from by what *checkpoints* hold, when it is asked.

    The sessions of *store* say the rest. Beside the checkpoints it keeps what the person writes,
    where anything is held already.
    """

    def __init__(self, project: Project, checkpoints: LateCheckpoints, store: Store) -> None:
        self._project = project
        self._checkpoints = checkpoints
        self._store = store
        self._session_handle: SessionHandle | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    @command(
        "/why PATH[:LINE[-LINE]]",
        "Show who wrote a line, lines or a file, in which call, and the words that asked for it.",
        is_concurrent=True,
    )
    def why(self, argument: str) -> Card:
        if not argument:
            raise UserError(phrase("Say of which line: /why app.py:42, /why app.py:10-20"))
        target = NoteTarget.parse(self._project, argument)
        return self.card_of(target.path, target.start, target.end)

    def card_of(self, path: str, start: int = 0, end: int = 0) -> OriginsCard:
        """Return where the lines *start* to *end* of *path* come from; all lines for 0.

        Raises `UserError`, `ToolError`.
        """
        from modules.why.ranges import MAX_ORIGINS, note_on, ranges_by_origin  # for who asks

        found = self.trace(self._project.normalize(path))
        by_origin = ranges_by_origin(found, start, end)
        shown = [*by_origin.items()][:MAX_ORIGINS]
        with_receipts = len(shown) <= _MAX_WITH_RECEIPTS
        reasons = self.reasons()
        origins = (reasons.explain(*one, with_receipts=with_receipts) for one in shown)
        line = found.lines[start - 1] if start and start == end else ""
        note = note_on(found, len(by_origin))
        return OriginsCard(visible(found.path), tuple(origins), start, end, line, note)

    def trace(self, path: str) -> FileOrigins:
        """Return the origins of the lines of *path* as all is now. Raises `UserError`, `ToolError`.

        A file that is gone is traced to its end; one that never was is refused.
        """
        if self._project.is_whole_disk:
            raise UserError(
                phrase("The project is the whole disk: nothing of its files is held to tell.")
            )
        from modules.checkpoints.line_origins.tracing import Tracing  # for who asks

        try:
            data: bytes | None = self._project.read_bytes(path)
        except MissingPath:
            data = None
        found = Tracing(self._checkpoints.get()).trace(path, data)
        if found is None:
            raise ToolError(phrase("There is no file {path}.", path=visible(path)))
        return found

    def reasons(self) -> Reasons:
        """Return what tells of the calls that wrote lines, as the sessions are now."""
        from modules.why.reasons import Reasons  # for who asks

        specs = self._session_handle.tools.specs if self._session_handle else {}
        return Reasons(self._store, specs, self._project, self._checkpoints)

    # --- what the person writes ------------------------------------------------------------------

    def person_wrote(self, path: str, before: bytes | None, after: bytes) -> None:
        if not self._checkpoints.exist():
            return
        from modules.checkpoints.line_origins.person_writings import record_file

        with suppress(UserError):
            record_file(self._checkpoints.get(), path, before, after)

    def while_person_runs(self) -> AbstractContextManager[None]:
        if not self._checkpoints.exist():
            return nullcontext()
        from modules.checkpoints.line_origins.person_writings import recording_person

        try:
            return recording_person(self._checkpoints.get())
        except UserError:
            return nullcontext()
