"""Record of the git baselines, on disk for as long as a run takes, so that a kill loses nothing."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from modules.sandbox.git.baseline import Baseline
from utils.system.atomic_write import sync_folder
from utils.system.file_lock import unlock_and_close


class InUse(Exception):
    """Record of a run that still goes on, in another process."""


class UnreadableRecord(Exception):
    """A record that is not as we write them."""


class RunRecord:
    """The file *path*, locked by the process that made it: if nobody holds it, that was killed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def exists(self) -> bool:
        return self._path.exists()

    def write(self, project: Path, baselines: Iterable[Baseline]) -> None:
        """Have *baselines* of *project* on disk; the file is ours then. Raises `OSError`."""
        data = {
            "device": project.stat().st_dev,
            "repositories": [baseline.as_json() for baseline in baselines],
        }
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with open(descriptor, "wb", closefd=False) as file:  # noqa: PTH123 - it has no path yet
                file.write(json.dumps(data).encode())
            os.fsync(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            Path(name).replace(self._path)
            sync_folder(self._path.parent)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            unlock_and_close(descriptor)
            raise
        self._release()
        self._descriptor = descriptor

    def close(self, *, is_done: bool) -> None:
        """Remove what `write` wrote, or leave it for `leftover` if that is not done with."""
        if self._descriptor is not None:
            if is_done:
                self._path.unlink(missing_ok=True)
            self._release()

    @contextmanager
    def leftover(self, project: Path) -> Iterator[list[Baseline]]:
        """Give the baselines of a run of *project* that was killed, and remove them after that.

        Nothing if the run is over by now. Raises `InUse`, `UnreadableRecord`, and `OSError`.
        """
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            yield []
            return
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InUse from None
            is_current = self.exists() and os.path.samestat(self._path.stat(), os.fstat(descriptor))
            yield _read(descriptor, project) if is_current else []
            if is_current:
                self._path.unlink()
        finally:
            unlock_and_close(descriptor)

    def quarantine(self) -> None:
        """Give what cannot be read another name."""
        self._path.replace(self._path.with_suffix(".unreadable"))

    def _release(self) -> None:
        if self._descriptor is not None:
            unlock_and_close(self._descriptor)
            self._descriptor = None


def _read(descriptor: int, project: Path) -> list[Baseline]:
    """Return the baselines in the record *descriptor*.

    A device may have another number since the machine was started anew.
    """
    try:
        with open(descriptor, "rb", closefd=False) as file:  # noqa: PTH123 - it may have no path
            data = json.load(file)
        devices = {int(data["device"]): project.stat().st_dev}
        return [Baseline.from_json(one, devices) for one in data["repositories"]]
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableRecord from error
