"""The copies of a race: made, looked at, and removed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.cards import DiffCard
from core.conversation.store import Store
from modules.other_project import OtherProject
from modules.pictures.picture_store import PictureStore
from modules.project_copies import ProjectCopies
from modules.race.kept_races import KeptRace, Racer
from modules.storage.data_folder import DataFolder

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints
    from modules.checkpoints.restore.operations import Skipped

_PURPOSE = "race"


class Difference(NamedTuple):
    """What a racer made of its folder: the snapshot *after*, a diff for each change, commits."""

    after: int
    diffs: Sequence[DiffCard]
    commits: int

    def of(self, racer: Racer) -> Racer:
        """Return *racer* with this as what it has made."""
        return replace(
            racer,
            after=self.after,
            files=len(self.diffs),
            added=sum(card.added for card in self.diffs),
            removed=sum(card.removed for card in self.diffs),
            commits=self.commits,
        )


class RacerCopies:
    """The *copies* of the project in *data* that are for racers; *store* has its sessions."""

    def __init__(
        self, copies: ProjectCopies, data: DataFolder, store: Store, pictures: PictureStore
    ) -> None:
        self._copies = copies
        self._data = data
        self._store = store
        self._pictures = pictures

    # --- made ------------------------------------------------------------------------------------

    def names(self, number: int) -> list[Path]:
        """Return *number* names for copies of the project. Raises `UserError`."""
        return self._copies.free_names(_PURPOSE, number)

    def clone(self, folders: Sequence[Path]) -> Sequence[Skipped]:
        """Make each of *folders* a copy of the project as it is now; return what is not copied.

        Raises `UserError`, as where somebody is at work on the project.
        """
        return self._copies.clone(folders)

    def begin(self, racer: Racer, session: str, turn: int) -> tuple[str, int]:
        """Begin a session in the copy of *racer* with all of *session* before *turn*.

        Return its id, and the snapshot that its folder begins with. Raises `UserError`.
        """
        folder = Path(racer.folder)
        _part_from_repository(folder)
        there = OtherProject(self._data.root, folder)
        try:
            there.copy_kept_files(self._data)
            copy = there.copy_session(
                self._store, session, turn - 1, self._pictures, lambda *_: None
            )
        finally:
            there.close()
        with self._copies.checkpoints(folder) as checkpoints:
            return copy, checkpoints.take().id

    # --- looked at -------------------------------------------------------------------------------

    def look(self, racer: Racer) -> Difference:
        """Return what *racer* has made of its folder since it began. Raises `UserError`."""
        with self._copies.checkpoints(Path(racer.folder)) as checkpoints:
            after = checkpoints.take().id
            commits = _commits(checkpoints, racer.before, after)
            return Difference(after, self._diffs(checkpoints, racer.before, after), commits)

    def diffs(self, racer: Racer) -> Sequence[DiffCard]:
        """Return what `look` found at the time, a diff for each change. Raises `UserError`."""
        with self._copies.checkpoints(Path(racer.folder)) as checkpoints:
            return self._diffs(checkpoints, racer.before, racer.after)

    def _diffs(self, checkpoints: Checkpoints, before: int, after: int) -> Sequence[DiffCard]:
        from modules.checkpoints.snapshot.entries import GIT
        from modules.checkpoints.undo.undo_cards import diff_card

        changes = [one for one in checkpoints.diff(before, after) if one.path != GIT]
        return [diff_card(checkpoints, before, after, one) for one in changes]

    def opened(self, racer: Racer) -> AbstractContextManager[Checkpoints]:
        """Open the checkpoints of the copy of *racer*."""
        return self._copies.checkpoints(Path(racer.folder))

    # --- removed ---------------------------------------------------------------------------------

    def remove(self, race: KeptRace) -> bool:
        """Remove the copies of *race*, and what is kept about them; return whether all are gone.

        Only what has a name as `names` gives it is.
        """
        folders = [Path(racer.folder) for racer in race.racers]
        ours = [one for one in folders if self._copies.is_name(_PURPOSE, one)]
        gone = [self._copies.remove(one) for one in ours]
        return all(gone)


def _commits(checkpoints: Checkpoints, before: int, after: int) -> int:
    """Return how often the branch moved between two snapshots: by a commit, a merge, a reset."""
    from modules.checkpoints.head_log import added_to_log

    lines = added_to_log(checkpoints, before, after)
    return sum(b"\tcheckout: " not in line for line in lines)


def _part_from_repository(folder: Path) -> None:
    """Take from *folder* what leads to a repository elsewhere: a racer must not work in that.

    A linked work tree has its branch, index and commits there.
    """
    link = folder / ".git"
    if link.is_symlink() or link.is_file():
        link.unlink()
