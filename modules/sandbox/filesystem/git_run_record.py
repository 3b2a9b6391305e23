"""What git obeyed before a run, on disk for as long as the run takes: a kill must not lose it."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from modules.sandbox.filesystem.git_baseline import Baseline
from utils.system.atomic_write import sync_folder
from utils.system.file_lock import free


class InUse(Exception):
    """The run that a record is of still goes on, in another process."""


class UnreadableRecord(Exception):
    """A record that is not as we write them."""


class RunRecord:
    """The file *path*, locked by the process that made it: if nobody holds it, that was killed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def exists(self) -> bool:
        return self._path.exists()

    def write(self, project: Path, baselines: Iterable[Baseline]) -> None:
        """Have *baselines* of *project* on disk; the file is ours then. Raises `OSError`."""
        told = {
            "device": project.stat().st_dev,
            "repositories": [baseline.as_json() for baseline in baselines],
        }
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with open(handle, "wb", closefd=False) as file:  # noqa: PTH123 - it has no path yet
                file.write(json.dumps(told).encode())
            os.fsync(handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
            Path(name).replace(self._path)
            sync_folder(self._path.parent)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            free(handle)
            raise
        self._let_go()
        self._handle = handle

    def close(self, *, is_done: bool) -> None:
        """Remove what `write` wrote, or leave it for `left` if that is not done with."""
        if self._handle is not None:
            if is_done:
                self._path.unlink(missing_ok=True)
            self._let_go()

    @contextmanager
    def left(self, project: Path) -> Iterator[list[Baseline]]:
        """Give the baselines of a run of *project* that was killed, and remove them after that.

        Nothing if the run is over by now. Raises `InUse`, `UnreadableRecord`, and `OSError`.
        """
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            yield []
            return
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InUse from None
            is_it = self.exists() and os.path.samestat(self._path.stat(), os.fstat(handle))
            yield _read(handle, project) if is_it else []
            if is_it:
                self._path.unlink()
        finally:
            free(handle)

    def put_aside(self) -> None:
        """Give what cannot be read another name."""
        self._path.replace(self._path.with_suffix(".unreadable"))

    def _let_go(self) -> None:
        if self._handle is not None:
            free(self._handle)
            self._handle = None


def _read(handle: int, project: Path) -> list[Baseline]:
    """Return the baselines in the record *handle*.

    A device may have another number since the machine was started anew.
    """
    try:
        with open(handle, "rb", closefd=False) as file:  # noqa: PTH123 - it may have no path
            told = json.load(file)
        devices = {int(told["device"]): project.stat().st_dev}
        return [Baseline.from_json(one, devices) for one in told["repositories"]]
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableRecord from error
