"""The command `/why`: who wrote a line, in which call, and the words that asked for it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

from core.feature import Feature
from core.hooks import RecordsPerson
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.files.project import Project
from utils.i18n import UserError

if TYPE_CHECKING:
    from modules.checkpoints.line_origins.tracing import Tracing


class Why(Feature, RecordsPerson):
    """Tells where the lines of *project* come from by what *checkpoints* hold, when it is asked.

    Beside these it keeps what the person writes, where anything is held already.
    """

    def __init__(self, project: Project, checkpoints: LateCheckpoints) -> None:
        self._project = project
        self._checkpoints = checkpoints

    def tracing(self) -> Tracing:
        """Return what traces lines as all is now. Raises `UserError`."""
        from modules.checkpoints.line_origins.tracing import Tracing  # for who asks

        return Tracing(self._checkpoints.get())

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
