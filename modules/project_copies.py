"""Copies of the project folder beside it, in which something else works: named, made, opened, gone.

A copy has a data folder of its own. Its name says what it is for: `project-race-1`.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from modules.checkpoints.undo.recorder import CallRecorder
from modules.files.project import Project
from modules.storage.data_folder import DataFolder
from utils.i18n import UserError, phrase

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints
    from modules.checkpoints.restore.operations import Skipped

OpenCheckpoints = Callable[[Project, DataFolder], "Checkpoints"]


class ProjectCopies:
    """Copies of the project *root*, whose data is *data*; *recorder* makes them."""

    def __init__(
        self,
        root: Path,
        data: DataFolder,
        recorder: CallRecorder,
        open_checkpoints: OpenCheckpoints,
    ) -> None:
        self._root = root
        self._data = data
        self._recorder = recorder
        self._open_checkpoints = open_checkpoints

    def free_names(self, purpose: str, number: int) -> list[Path]:
        """Return *number* names for copies, each of which nothing has, nor had before.

        Raises `UserError` where the project cannot be copied.
        """
        self._recorder.refuse_whole_disk()
        prefix = self._prefix(purpose)
        names = (self._root.with_name(f"{prefix}{n}") for n in count(1))
        free = (path for path in names if self._is_free(path))
        return [next(free) for _ in range(number)]

    def _prefix(self, purpose: str) -> str:
        return f"{self._root.name}-{purpose}-"

    def _is_free(self, path: Path) -> bool:
        is_there = path.exists() or path.is_symlink()
        return not is_there and not self.data_path(path).exists()

    def is_name(self, purpose: str, folder: Path) -> bool:
        """Return whether *folder* has a name as `free_names` gives it."""
        prefix = self._prefix(purpose)
        number = folder.name.removeprefix(prefix)
        return folder.parent == self._root.parent and number != folder.name and number.isdecimal()

    def existing(self, purpose: str) -> list[Path]:
        """Return the folders that have such a name."""
        beside = self._root.parent.glob("*")  # none where it may not be listed
        return [path for path in beside if self.is_name(purpose, path)]

    def data_path(self, folder: Path) -> Path:
        """Return where the data of the copy *folder* is, or would be."""
        return DataFolder.path_for(self._data.root, folder)

    def clone(self, folders: Sequence[Path]) -> Sequence[Skipped]:
        """Make each of *folders* a copy of the project as it is now; return what is not copied.

        Raises `UserError`, as where somebody is at work on the project.
        """
        return self._recorder.clone_now(folders)

    @contextmanager
    def opened(self, folder: Path) -> Iterator[tuple[Project, DataFolder]]:
        """Open the copy *folder*, with its data. Raises `UserError`."""
        if not folder.is_dir():
            raise UserError(phrase("The folder {path} is gone.", path=str(folder)))
        project = Project(folder, hidden=[self._data.root])
        try:
            yield project, DataFolder(self._data.root, folder)
        finally:
            project.close()

    @contextmanager
    def checkpoints(self, folder: Path) -> Iterator[Checkpoints]:
        """Open the checkpoints of the copy *folder*. Raises `UserError`."""
        with self.opened(folder) as place, closing(self._open_checkpoints(*place)) as checkpoints:
            yield checkpoints

    def remove(self, folder: Path) -> bool:
        """Remove the copy *folder* and its data; return whether the folder is gone."""
        unfinished = folder.with_name(f".{folder.name}.unfinished")  # of a clone that was cut short
        for path in (unfinished, folder, self.data_path(folder)):
            _remove_folder(path)
        return not folder.exists()


def _remove_folder(folder: Path) -> None:
    """Remove *folder* with all that is in it, as far as the system lets us; follow no link."""

    def unlock(_: object, path: str, __: object) -> None:
        with suppress(OSError):
            parent = os.path.dirname(path)  # noqa: PTH120 - as rmtree names it
            for one in (parent, path):
                if not os.path.islink(one):  # noqa: PTH114
                    os.chmod(one, stat.S_IMODE(os.lstat(one).st_mode) | 0o700)  # noqa: PTH101
            if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)  # noqa: PTH108

    if folder.is_symlink() or not folder.exists():
        return
    shutil.rmtree(folder, onerror=unlock)
