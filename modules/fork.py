"""`/fork`: go on from an earlier turn in a session of its own, in a folder of its own if wished."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

from core.cards import Card, TableCard, TextCard
from core.conversation.store import Store
from core.events import CommandAnswered
from core.feature import Feature, SessionHandle, command
from core.hooks import BindsToSession
from modules.checkpoints.undo.recorder import CallRecorder
from modules.other_project import OtherProject
from modules.pictures.picture_store import PictureStore
from modules.storage.data_folder import DataFolder
from utils.i18n import Text, UserError, phrase
from utils.system.own_command import own_command
from utils.text.clean import visible
from utils.text.lines import parse_number

_WITH_FILES = "--with-files"


class Fork(Feature, BindsToSession):
    """Forks of the sessions in *store*; *recorder* copies *root* as it was after a turn.

    *data* is where everything about all projects is kept.
    """

    def __init__(
        self,
        store: Store,
        root: Path,
        recorder: CallRecorder,
        data: Path,
        pictures: PictureStore,
    ) -> None:
        self._store = store
        self._root = root
        self._recorder = recorder
        self._data = data
        self._pictures = pictures
        self._session_handle: SessionHandle | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    @command(
        "/fork [TURN] [--with-files]",
        "Continue from the end of a turn in a new session.",
        leads_to="copy",
        belongs_to_session=True,
    )
    def fork(self, argument: str) -> CommandAnswered:
        session_handle = self._session_handle
        if session_handle is None or not session_handle.session or not session_handle.history.turns:
            raise UserError(phrase("Nothing to fork yet."))
        parts = argument.split()
        copies_files = _WITH_FILES in parts
        numbers = [parse_number(word) for word in parts if word != _WITH_FILES]
        turns = session_handle.history.turns
        if len(numbers) > 1 or None in numbers:
            raise UserError(phrase("Usage: /fork TURN, such as /fork 3."))
        turn = numbers[0] or 0 if numbers else turns[-1]
        if turn not in turns:
            raise UserError(phrase("No turn {turn} to fork from.", turn=turn))
        if copies_files:
            return CommandAnswered("/fork", self._fork_with_files(session_handle, turn))
        # The newest turn has the state of now with it: what was focused or taken back since.
        session = session_handle.resume(session_handle.fork(turn))
        card = TextCard(
            phrase("New session from turn {turn}: {session}", turn=turn, session=session)
        )
        return CommandAnswered("/fork", card, effect="session")

    def _fork_with_files(self, session_handle: SessionHandle, turn: int) -> Card:
        self._recorder.refuse_whole_disk()
        target = self._unused_sibling()
        skipped = self._recorder.clone_project(turn, target)
        try:
            session = self._copy_session(session_handle, turn, target)
        except BaseException:  # whatever it was, a copy without its session is of no use
            shutil.rmtree(target, ignore_errors=True)
            raise
        resume_command = own_command("--cli", "--project", str(target), "--resume", session)
        rows: list[tuple[Text, ...]] = [
            (phrase("Folder"), str(target)),
            (phrase("Session"), session),
            (phrase("Continue there"), resume_command),
        ]
        rows += [(phrase("not copied"), visible(one.path), one.why) for one in skipped]
        return TableCard(phrase("Copy of turn {turn}, with its files", turn=turn), tuple(rows))

    def _copy_session(self, session_handle: SessionHandle, turn: int, target: Path) -> str:
        """Keep the session up to the end of *turn* for the copy *target*; return its id there."""
        other_project = OtherProject(self._data, target)
        try:
            other_project.copy_consents(DataFolder(self._data, self._root).consents)
            copy_undo = self._recorder.copy_history_to
            return other_project.copy_session(
                self._store, session_handle.session, turn, self._pictures, copy_undo
            )
        finally:
            other_project.close()

    def _unused_sibling(self) -> Path:
        """Return a name for a folder beside ours that nothing has yet, nor had before."""
        names = (self._root.with_name(f"{self._root.name}-fork-{number}") for number in count(1))
        return next(path for path in names if self._is_unused(path))

    def _is_unused(self, path: Path) -> bool:
        is_there = path.exists() or path.is_symlink()
        return not is_there and not DataFolder.path_for(self._data, path).exists()
