"""Scratch folders: each an empty project for one run of the tester, gone afterwards.

Which ones there are stands in the data folder, so that the next start removes what a kill has left.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.storage.data_folder import DataFolder
from utils.i18n import UserError, phrase
from utils.text.strict_json import read_json

_PREFIX = "onefold-tools-"


class ScratchFolders:
    """The scratch folders of the data folder *data*."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._register = data / "tool_scratch"

    @contextmanager
    def new(self) -> Iterator[Path]:
        """Make an empty folder; it and all that is kept about it is gone at the end.

        Raises `UserError` where there can be none.
        """
        try:
            self._register.mkdir(mode=0o700, parents=True, exist_ok=True)
            entry, name = tempfile.mkstemp(dir=self._register, suffix=".json")
        except OSError as error:
            raise _no_folder(error) from None
        try:
            fcntl.flock(entry, fcntl.LOCK_EX)  # gone with us, however we end
            try:
                # Its name is known before it is there: no moment leaves one that nobody knows of.
                folder = Path(tempfile.gettempdir()).resolve() / f"{_PREFIX}{Path(name).stem}"
                os.write(entry, json.dumps(str(folder)).encode("utf-8", "surrogateescape"))
                folder.mkdir(mode=0o700)
            except OSError as error:
                Path(name).unlink(missing_ok=True)
                raise _no_folder(error) from None
            try:
                yield folder
            finally:
                self._remove(folder)
                Path(name).unlink(missing_ok=True)
        finally:
            os.close(entry)

    def clean(self) -> None:
        """Remove what others have left that were killed; what is still in use stays."""
        for path in self._register.glob("*.json"):
            with suppress(OSError), _locked_if_free(path) as is_free:
                if is_free and (folder := _folder_in(path)):
                    self._remove(folder)
                    path.unlink()

    def _remove(self, folder: Path) -> None:
        remove_scratch(folder)
        remove_scratch(DataFolder.path_for(self._data, folder))


@contextmanager
def _locked_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock of *path* if nobody else does; say whether that is so."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


def _folder_in(path: Path) -> Path | None:
    """Return the folder that the entry *path* names, None where that is none of ours."""
    try:
        name = read_json(path.read_bytes())
    except ValueError:
        return None
    folder = Path(name) if isinstance(name, str) else Path()
    is_ours = folder.is_absolute() and folder.name == f"{_PREFIX}{path.stem}"
    return folder if is_ours and not folder.is_symlink() else None


def _no_folder(error: OSError) -> UserError:
    why = error.strerror or str(error)
    return UserError(phrase("Cannot create a scratch folder: {why}.", why=why))
