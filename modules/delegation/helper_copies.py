"""Copies of the project folder in which helpers write."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.conversation.messages import ShellResult, ToolResult
from core.conversation.store import Store
from modules.checkpoints.undo.recorder import CallRecorder
from modules.files.project import Project
from modules.other_project import OtherProject
from modules.project_copies import ProjectCopies
from modules.storage.data_folder import DataFolder
from utils.frozen import frozen
from utils.i18n import UserError
from utils.system.atomic_write import write_atomically

if TYPE_CHECKING:
    from modules.delegation.way_back import Reached, TakenBack

_PURPOSE = "helper"
_OWNER = "helper.json"
"""The file in the data of a copy that says which call it is for."""


@frozen
class CopyOwner:
    """The *call* in a *turn* of a *session* that is the helper a copy is for."""

    session: str
    turn: int
    call: str


@frozen
class HelperCopy:
    """A copy: its *folder*, and the snapshot *before* anything was done in it."""

    folder: Path
    before: int

    def to_state(self) -> dict[str, Any]:
        return {"folder": str(self.folder), "before": self.before}

    @classmethod
    def of(cls, state: dict[str, Any]) -> HelperCopy:
        return cls(Path(state["folder"]), int(state["before"]))


class HelperCopies:
    """The *copies* of the project *root* that are for helpers; *recorder* takes from them.

    *data* is the project's, *store* has its sessions.
    """

    def __init__(
        self,
        copies: ProjectCopies,
        root: Path,
        data: DataFolder,
        store: Store,
        recorder: CallRecorder,
    ) -> None:
        self._copies = copies
        self._root = root
        self._data = data
        self._store = store
        self._recorder = recorder

    def make(self, owner: CopyOwner) -> HelperCopy:
        """Make a copy of the project as it is, for *owner*. Raises `UserError`."""
        self._recorder.refuse_whole_disk()
        self._sweep()
        [folder] = self._copies.free_names(_PURPOSE, 1)
        try:
            self._copies.clone([folder])
            self._copy_data(folder, owner)
            with self._copies.checkpoints(folder) as checkpoints:
                return HelperCopy(folder, checkpoints.take().id)
        except BaseException:
            self.remove(folder)
            raise

    def _copy_data(self, folder: Path, owner: CopyOwner) -> None:
        """Keep for the copy what holds for its project too, the notes with it."""
        there = OtherProject(self._data.root, folder)
        try:
            there.copy_kept_files(self._data)
        finally:
            there.close()
        data = DataFolder(self._data.root, folder)
        if self._data.notes.exists():
            shutil.copyfile(self._data.notes, data.notes)
        write_atomically(data.path / _OWNER, json.dumps(asdict(owner)).encode())

    def opened(self, folder: Path) -> AbstractContextManager[tuple[Project, DataFolder]]:
        """Open the copy *folder*, with its data."""
        return self._copies.opened(folder)

    def take_back(
        self,
        copy: HelperCopy,
        owner: CopyOwner,
        reached: Reached,
        *,
        recorded: Callable[[str], AbstractContextManager[None]],
        keep: Callable[[Reached], None],
    ) -> TakenBack:
        """Do in the project what was done in *copy* for *owner*, then remove it; see `WayBack`.

        What is *reached* is not done again. Raises `UserError`; then the copy stays.
        """
        from modules.delegation.way_back import WayBack  # for who has a helper write

        way = WayBack(self._recorder, self._root, owner.call, recorded=recorded, keep=keep)
        if not reached.is_all:
            with self._copies.checkpoints(copy.folder) as checkpoints:
                reached = way.go(checkpoints, owner.session, copy.before, reached)
        taken = way.told(reached)
        if self.is_for(copy, owner):
            self.remove(copy.folder)
        return taken

    def is_for(self, copy: HelperCopy, owner: CopyOwner) -> bool:
        """Return whether *copy* is there and is that of *owner*: not that of a fork's origin."""
        try:
            kept = (self._copies.data_path(copy.folder) / _OWNER).read_text(encoding="utf-8")
            return copy.folder.is_dir() and json.loads(kept) == asdict(owner)
        except (OSError, ValueError):
            return False

    # --- removed ---------------------------------------------------------------------------------

    def remove(self, folder: Path) -> None:
        """Remove the copy *folder*, and its data."""
        self._copies.remove(folder)

    def _sweep(self) -> None:
        """Remove the copies of calls that are over: a kill left them."""
        for folder, owner in self._owned():
            with suppress(OSError, ValueError, TypeError, UserError):
                if self._is_over(CopyOwner(**json.loads(owner.read_text(encoding="utf-8")))):
                    self.remove(folder)

    def _owned(self) -> Iterator[tuple[Path, Path]]:
        """Yield the copies that there are, each with the file that says whose it is."""
        for folder in self._copies.existing(_PURPOSE):
            owner = self._copies.data_path(folder) / _OWNER
            if owner.exists():
                yield folder, owner

    def _is_over(self, owner: CopyOwner) -> bool:
        """Return whether the call that a copy is for has its answer."""
        records = self._store.load(owner.session)
        return any(
            isinstance(record, ToolResult | ShellResult)
            and (turn, record.call_id) == (owner.turn, owner.call)
            for turn, record in records
        )
