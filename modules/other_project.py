"""Beginning a session in another project folder, with what belongs to it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.conversation.history import TurnRecord, effective_records
from core.conversation.messages import Record, StateRecord
from core.conversation.store import SessionInfo, Store
from modules.annotations import Annotations
from modules.files.project import Project
from modules.notes.note_book import LINE_NOTES
from modules.pictures.picture_store import PictureStore
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from utils.i18n import UserError, phrase
from utils.system.atomic_write import write_atomically
from utils.system.shared_file import SharedFile

CopyUndoHistory = Callable[[Path, str, int], None]
"""Gives the store in a folder the undo of the present session, as another one, up to a turn."""


class OtherProject:
    """Keeps things about the project *folder* in *data*; close it after use.

    Everything raises `UserError` when that cannot be done.
    """

    def __init__(self, data: Path, folder: Path) -> None:
        self._data = data
        self._folder = folder
        self._is_new = not DataFolder.path_for(data, folder).exists()
        self._data_folder = DataFolder(data, folder)
        self._sessions = Sessions(self._data_folder.sessions)

    def import_session(
        self,
        info: SessionInfo,
        records: Sequence[tuple[int, Record]],
        notes: Mapping[str, Any],
        copy_undo_history: CopyUndoHistory,
        pictures: PictureStore,
    ) -> str:
        """Keep a copy of a session, the state of its *notes*, its *pictures* and its undo.

        Returns its id there.

        When that cannot be done, nothing is kept of a folder that had nothing before.
        """
        try:
            session = self._import_session(info, records, notes, copy_undo_history)
            pictures.copy(info.id, PictureStore(self._data_folder.pictures), session)
            return session
        except BaseException:  # whatever it was, half of it is of no use
            if self._is_new:
                self.close()
                shutil.rmtree(self._data_folder.path, ignore_errors=True)
            raise

    def _import_session(
        self,
        info: SessionInfo,
        records: Sequence[tuple[int, Record]],
        notes: Mapping[str, Any],
        copy_undo_history: CopyUndoHistory,
    ) -> str:
        session = self._sessions.adopt(info, records)
        copy_undo_history(
            self._data_folder.checkpoints, session, max((turn for turn, _ in records), default=0)
        )
        project = Project(self._folder, hidden=[self._data])
        try:
            Annotations(project, self._data_folder.notes).on_rewind(dict(notes))
        finally:
            project.close()
        return session

    def copy_session(
        self,
        store: Store,
        session: str,
        turn: int,
        pictures: PictureStore,
        copy_undo_history: CopyUndoHistory,
    ) -> str:
        """Keep here what *session* of *store* holds up to the end of *turn*; return its id here."""
        records = [one for one in store.load(session) if one[0] <= turn]
        info, notes = store.info(session), _notes_after(records)
        return self.import_session(info, records, notes, copy_undo_history, pictures)

    def copy_kept_files(self, origin: DataFolder) -> None:
        """Keep here as well what the data *origin* of another project says about how to work."""
        for there, here in zip(origin.of_work, self._data_folder.of_work, strict=True):
            if there.exists():
                try:
                    write_atomically(here, SharedFile(there).read())
                except OSError as error:
                    why = error.strerror or str(error)
                    raise UserError(
                        phrase("Cannot read or save {path}: {why}.", path=str(here), why=why)
                    ) from None

    def copy_consents(self, origin: Path) -> None:
        """Keep there as well what is known, in the file *origin*, of instructions and commands: a
        copy of what a call has written is nobody's own either."""
        known = SharedFile(origin).read()
        SharedFile(self._data_folder.consents).change(lambda before: before or known)

    def close(self) -> None:
        self._sessions.close()


def _notes_after(records: Sequence[TurnRecord]) -> dict[str, Any]:
    """Return the state of the notes as it stood after *records*."""
    state: dict[str, Any] = {"notes": {}}
    for _, record in effective_records(records):
        if isinstance(record, StateRecord) and record.name in ("notes", LINE_NOTES):
            state[record.name] = record.value
    return state
