"""The command `/why`: who wrote a line, in which call, and the words that asked for it."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from core.cards import Card, OriginsCard, TextCard
from core.conversation.store import Store
from core.events import CommandAnswered
from core.feature import Feature, SessionHandle, command, name_of
from core.hooks import BindsToSession, RecordsPerson
from core.tools import ToolError
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.files.project import MissingPath, Project
from modules.notes.note_target import NoteTarget
from utils.i18n import UserError, phrase
from utils.text.clean import visible
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.checkpoints.line_origins.origins import FileOrigins
    from modules.checkpoints.line_origins.tracing import Tracing
    from modules.why.reasons import Reasons

AGENT_TRACE, GIT_NOTES = "--agent-trace", "--git-notes"
_MAX_WITH_RECEIPTS = 20
"""Origins of which the receipts are looked at as well: each takes a look at the files."""


class Why(Feature, BindsToSession, RecordsPerson):
    """Tells where the lines of *project* come from by what *checkpoints* hold, when it is asked.

    The sessions of *store* say the rest. Beside the checkpoints it keeps what the person writes,
    where anything is held already.
    """

    def __init__(
        self,
        project: Project,
        checkpoints: LateCheckpoints,
        store: Store,
        stop: Stop,
        version: str,
    ) -> None:
        """*stop* ends git where the person stops it; *version* is ours, for exports."""
        self._version = version
        self._stop = stop
        self._project = project
        self._checkpoints = checkpoints
        self._store = store
        self._session_handle: SessionHandle | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    @command(
        "/why PATH[:LINE[-LINE]]",
        "Show who wrote a line, some lines or a file, in which call and for which request; "
        "--agent-trace FILE and --git-notes [COMMIT] export this.",
        is_concurrent=True,
    )
    def why(self, argument: str) -> Card | CommandAnswered:
        option, _, rest = argument.partition(" ")
        if not argument or (option == AGENT_TRACE and not rest):
            raise UserError(
                phrase("Usage: /why app.py:42, /why app.py:10-20, or /why --agent-trace trace.json")
            )
        if option == AGENT_TRACE:
            return self._write_trace(rest.strip())
        if option == GIT_NOTES:
            return self._note_commit(rest.strip() or "HEAD")
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
        origins = tuple(reasons.explain(*one, with_receipts=with_receipts) for one in shown)
        line = found.lines[start - 1] if start and start == end else ""
        note = note_on(found, len(by_origin))
        card = OriginsCard(visible(found.path), origins, start, end, line, note)
        if len(by_origin) != 1:
            return card
        (one,) = origins
        receipt = one.receipts[-1] if one.receipts else None
        return replace(
            card, by=one.by, turn=one.turn, call=one.call, task=one.asked, receipt=receipt
        )

    def _write_trace(self, name: str) -> CommandAnswered:
        from modules.export import changes_of_file, new_file, write_new  # for who exports
        from modules.why.exports import project_record

        path = new_file(self._project.root, name)
        record = project_record(self._project, self._tracing(), self.reasons(), self._version)
        text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
        write_new(path, text.encode("utf-8", "replace"))
        card = TextCard(phrase("Exported"), str(path.resolve()))
        return CommandAnswered(
            name_of(Why.why), card, changes=changes_of_file(self._project.root, path)
        )

    def _note_commit(self, commit: str) -> Card:
        from modules.why.exports import NOTES, note_commit  # for who exports

        name, files = note_commit(
            self._project.root,
            commit,
            self._tracing(),
            self.reasons(),
            self._version,
            self._stop.on_stop,
        )
        said = phrase(
            "Files covered: {count:,}. To see the note: git notes --ref={notes} show {commit}",
            count=files,
            notes=NOTES,
            commit=name[:12],
        )
        return TextCard(phrase("Note added to {commit}", commit=name[:12]), said)

    def trace(self, path: str) -> FileOrigins:
        """Return the origins of the lines of *path* as all is now. Raises `UserError`, `ToolError`.

        A file that is gone is traced to its end; one that never was is refused.
        """
        tracing = self._tracing()
        try:
            data: bytes | None = self._project.read_bytes(path)
        except MissingPath:
            data = None
        found = tracing.trace(path, data)
        if found is None:
            raise ToolError(phrase("There is no file {path}.", path=visible(path)))
        return found

    def _tracing(self) -> Tracing:
        if self._project.is_whole_disk:
            raise UserError(phrase("The project is the whole disk: its file history is not saved."))
        from modules.checkpoints.line_origins.tracing import Tracing  # for who asks

        return Tracing(self._checkpoints.get(), self.reasons().arguments_of)

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
