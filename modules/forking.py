"""`/fork`: go on from an earlier turn in a session of its own, in a folder of its own if wished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Protocol

from core.cards import Card, TableCard, TextCard
from core.events import CommandAnswered
from core.family import Family, Talk, command
from core.messages import Record
from core.store import SessionInfo, Store
from modules.checkpoints.plan import Left
from utils.clean import visible
from utils.phrases import Problem, Text, phrase
from utils.text import read_number

_WITH_FILES = "--with-files"


class Elsewhere(Protocol):
    """The sessions of another project."""

    def adopt(self, info: SessionInfo, records: Sequence[tuple[int, Record]]) -> str:
        """Keep a copy of a session and return its id."""

    def close(self) -> None: ...


class Forking(Family):
    """Forks of the sessions in *store*; *twin* copies the project *root* as it was after a turn.

    *elsewhere* opens the sessions of another project folder.
    """

    def __init__(
        self,
        store: Store,
        root: Path,
        twin: Callable[[int, Path], Sequence[Left]],
        elsewhere: Callable[[Path], Elsewhere],
    ) -> None:
        self._store = store
        self._root = root
        self._twin = twin
        self._elsewhere = elsewhere
        self._talk: Talk | None = None

    def meet(self, talk: Talk) -> None:
        self._talk = talk

    @command("/fork [TURN] [--with-files]", "Go on from the end of a turn in a new session.")
    def fork(self, rest: str) -> CommandAnswered:
        talk = self._talk
        if talk is None or not talk.session or not talk.history.turns:
            raise Problem(phrase("There is nothing to fork yet."))
        words = rest.split()
        with_files = _WITH_FILES in words
        numbers = [read_number(word) for word in words if word != _WITH_FILES]
        turns = talk.history.turns
        if len(numbers) > 1 or None in numbers:
            raise Problem(phrase("Say the number of a turn: /fork 3."))
        turn = numbers[0] or 0 if numbers else turns[-1]
        if turn not in turns:
            raise Problem(phrase("There is no turn {turn} to go on from.", turn=turn))
        if with_files:
            return CommandAnswered("/fork", self._with_files(talk, turn))
        # The newest turn has the state of now with it: what was focused or taken back since.
        session = talk.resume(talk.fork(turn))
        card = TextCard(
            phrase("A new session from turn {turn}: {session}", turn=turn, session=session)
        )
        return CommandAnswered("/fork", card, effect="session")

    def _with_files(self, talk: Talk, turn: int) -> Card:
        target = _free_beside(self._root)
        left = self._twin(turn, target)
        records = [one for one in self._store.load(talk.session) if one[0] <= turn]
        sessions = self._elsewhere(target)
        try:
            session = sessions.adopt(self._store.info(talk.session), records)
        finally:
            sessions.close()
        rows: list[tuple[Text, ...]] = [
            (phrase("Folder"), str(target)),
            (phrase("Session"), session),
            (phrase("Go on there"), f"--project {target} --resume {session}"),
        ]
        rows += [(phrase("not copied"), visible(one.path), one.why) for one in left]
        return TableCard(phrase("A twin of turn {turn}, with its files", turn=turn), tuple(rows))


def _free_beside(root: Path) -> Path:
    """Return a name for a folder beside *root* that nothing has yet."""
    names = (root.with_name(f"{root.name}-fork-{number}") for number in count(1))
    return next(path for path in names if not path.exists() and not path.is_symlink())
