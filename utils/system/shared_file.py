"""Small file of ours that people and several processes may change at the same time."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from utils.i18n import UserError, phrase

Stamp = tuple[int, int, int]
"""(inode, size in bytes, modification time in nanoseconds): equal stamps, equal content."""


class SharedFile:
    """A file that is replaced whole or not at all; a new one is readable by its owner only.

    A failure of the disk raises `UserError`. A missing file reads as empty.
    """

    def __init__(self, path: Path) -> None:
        self._given_path = path
        self._given_name = str(path)

    @property
    def path(self) -> Path:
        """The file itself: replacing it must not turn a link of the person's into a file."""
        return self._given_path.resolve()

    def stamp(self) -> Stamp | None:
        try:
            stat_result = os.stat(self._given_name)  # noqa: PTH116 - many times a step
        except OSError:
            return None
        return stat_result.st_ino, stat_result.st_size, stat_result.st_mtime_ns

    def read(self) -> bytes:
        """Return the content. A pipe or device in its place is refused, not waited for."""
        with self._as_user_errors():
            try:
                handle = os.open(self._given_path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                return b""
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise OSError(errno.EINVAL, "it is no regular file; move it away")
                return file.read()

    def change(self, edit: Callable[[bytes], bytes]) -> None:
        """Replace the content by what *edit* makes of it.

        Other Onefolds wait meanwhile. When somebody who does not know our lock saves the file
        before we do, *edit* is asked again about the new content, so that neither is lost.
        """
        with self._as_user_errors(), self._locked():
            while True:
                before = self.read()
                after = edit(before)
                if after == before or self._replace(before, after):
                    return

    def set_aside(self) -> Path:
        """Move the file out of the way, to a name that was free, and return that."""
        with self._as_user_errors():
            number = 1
            while (free_path := self.path.with_name(f"{self.path.name}.broken-{number}")).exists():
                number += 1
            return self.path.rename(free_path)

    def _replace(self, before: bytes, after: bytes) -> bool:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(after)
                file.flush()
                os.fsync(handle)
            with suppress(FileNotFoundError):
                Path(name).chmod(stat.S_IMODE(self.path.stat().st_mode))
            if self.read() != before:
                return False
            Path(name).replace(self.path)
            return True
        finally:
            Path(name).unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        folder = self.path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def _as_user_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            path = str(self._given_path)
            raise UserError(
                phrase("Cannot read or save {path}: {why}.", path=path, why=reason)
            ) from None
