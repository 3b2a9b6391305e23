"""`/fork`: go on from an earlier turn in a session of its own, in a folder of its own if wished."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from core.cards import Card, TableCard, TextCard
from core.conversation.history import TurnRecord, standing
from core.conversation.messages import StateRecord
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
from utils.text.lines import read_number

_WITH_FILES = "--with-files"


class Forking(Feature, BindsToSession):
    """Forks of the sessions in *store*; *undo* copies the project *root* as it was after a turn.

    *data* is where everything about all projects is kept.
    """

    def __init__(
        self,
        store: Store,
        root: Path,
        undo: CallRecorder,
        data: Path,
        pictures: PictureStore,
    ) -> None:
        self._store = store
        self._root = root
        self._undo = undo
        self._data = data
        self._pictures = pictures
        self._talk: SessionHandle | None = None

    def meet(self, talk: SessionHandle) -> None:
        self._talk = talk

    @command(
        "/fork [TURN] [--with-files]",
        "Go on from the end of a turn in a new session.",
        leads_to="copy",
        belongs_to_session=True,
    )
    def fork(self, rest: str) -> CommandAnswered:
        talk = self._talk
        if talk is None or not talk.session or not talk.history.turns:
            raise UserError(phrase("There is nothing to fork yet."))
        words = rest.split()
        with_files = _WITH_FILES in words
        numbers = [read_number(word) for word in words if word != _WITH_FILES]
        turns = talk.history.turns
        if len(numbers) > 1 or None in numbers:
            raise UserError(phrase("Say the number of a turn: /fork 3."))
        turn = numbers[0] or 0 if numbers else turns[-1]
        if turn not in turns:
            raise UserError(phrase("There is no turn {turn} to go on from.", turn=turn))
        if with_files:
            return CommandAnswered("/fork", self._with_files(talk, turn))
        # The newest turn has the state of now with it: what was focused or taken back since.
        session = talk.resume(talk.fork(turn))
        card = TextCard(
            phrase("A new session from turn {turn}: {session}", turn=turn, session=session)
        )
        return CommandAnswered("/fork", card, effect="session")

    def _with_files(self, talk: SessionHandle, turn: int) -> Card:
        target = self._free_beside()
        left = self._undo.twin(turn, target)
        try:
            session = self._adopted(talk, turn, target)
        except BaseException:  # whatever it was, a twin without its session is of no use
            shutil.rmtree(target, ignore_errors=True)
            raise
        again = own_command("--cli", "--project", str(target), "--resume", session)
        rows: list[tuple[Text, ...]] = [
            (phrase("Folder"), str(target)),
            (phrase("Session"), session),
            (phrase("Go on there"), again),
        ]
        rows += [(phrase("not copied"), visible(one.path), one.why) for one in left]
        return TableCard(phrase("A twin of turn {turn}, with its files", turn=turn), tuple(rows))

    def _adopted(self, talk: SessionHandle, turn: int, target: Path) -> str:
        """Keep the session up to the end of *turn* for the twin *target*; return its id there."""
        records = [one for one in self._store.load(talk.session) if one[0] <= turn]
        there = OtherProject(self._data, target)
        try:
            info, notes = self._store.info(talk.session), _notes(records)
            return there.adopt(info, records, notes, self._undo.hand_over, self._pictures)
        finally:
            there.close()

    def _free_beside(self) -> Path:
        """Return a name for a folder beside ours that nothing has yet, nor had before."""
        names = (self._root.with_name(f"{self._root.name}-fork-{number}") for number in count(1))
        return next(path for path in names if self._is_free(path))

    def _is_free(self, path: Path) -> bool:
        is_there = path.exists() or path.is_symlink()
        return not is_there and not DataFolder.place(self._data, path).exists()


def _notes(records: Sequence[TurnRecord]) -> dict[str, str]:
    """Return the notes by path as they stood after *records*."""
    notes: dict[str, str] = {}
    for _, record in standing(records):
        if isinstance(record, StateRecord) and record.name == "notes":
            notes = record.value
    return notes
