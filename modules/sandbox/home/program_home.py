"""The home that programs find, which stays: whose turn it is, its size, and emptying it.

It lies in the data folder and is written by programs in the sandbox. Nothing of it is ever run,
obeyed or followed outside.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from modules.sandbox.filesystem.folder_removal import remove_scratch
from utils.i18n import Phrase, UserError, phrase
from utils.system.file_lock import unlock_and_close
from utils.system.process_identity import start_ticks
from utils.text.clean import visible

if TYPE_CHECKING:
    from modules.sandbox.home.usage import HomeEntry, HomeUsage

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_FILES = 500_000
_INTERVAL = 10.0  # seconds between two looks at its size
_DUTY = 20  # looking takes at most one part in so many of the time
_SPARE = 4  # where it is too large, one part in so many is made free
_MAX_NAMED = 8
_NUMBERS = itertools.count()


class ProgramHome:
    """The home *folder* of the programs of one project, of at most *max_size* bytes.

    Several processes may share it: a run holds it by `in_use`, and nothing is removed meanwhile.
    While it is too large and one runs on, no other gets it. With a *max_size* of 0 there is none.
    """

    def __init__(self, folder: Path, *, max_size: int, max_files: int = _MAX_FILES) -> None:
        self.folder = folder
        self.max_size = max_size
        self._max_files = max_files
        self._lock_file = folder.with_name(f"{folder.name}.lock")
        self._number = next(_NUMBERS)
        self._usage: HomeUsage | None = None
        self._next_look = 0.0  # on the monotonic clock
        self._is_withheld = False
        self._thread: threading.Thread | None = None
        self._warnings: list[Phrase] = []

    @property
    def usage(self) -> HomeUsage | None:
        """Contents of it when it was looked at last; None if it was not yet."""
        return self._usage

    @property
    def is_withheld(self) -> bool:
        """Whether it is too large, and a program that runs on keeps it from being made smaller."""
        return self._is_withheld

    @contextmanager
    def in_use(self) -> Iterator[Path | None]:
        """Yield the folder, which stays while the block lasts; None where there cannot be one."""
        if not self.max_size or self._is_withheld:
            yield None
            return
        try:
            lock = self._lock(fcntl.LOCK_SH)
        except OSError:  # the data folder is only to be read, or full
            yield None
            return
        try:
            yield self.ready()
        finally:
            unlock_and_close(lock)

    def ready(self) -> Path | None:
        """Return the folder, made if missing and closed to others; None where that fails."""
        with suppress(OSError):
            if self.max_size and not self._is_withheld:
                self.folder.mkdir(mode=0o700, exist_ok=True)  # a link to a folder is none of ours
                mode = self.folder.lstat().st_mode
                if stat.S_ISDIR(mode) and stat.S_IMODE(mode) != 0o700:
                    self.folder.chmod(0o700)
                return self.folder if stat.S_ISDIR(mode) else None
        return None

    def clean(self) -> HomeUsage:
        """Empty it and return what was in it. Raises `UserError` while a program runs."""
        try:
            trash = self._replace()
        except BlockingIOError:
            raise UserError(
                phrase(
                    "A program of this project is running, maybe in another Onefold. Stop it "
                    "or wait until it ends, then run /clean again."
                )
            ) from None
        except OSError as error:
            raise UserError(
                phrase(
                    "Cannot empty {path}: {why}.",
                    path=str(self.folder),
                    why=error.strerror or str(error),
                )
            ) from None
        freed = _measured(trash, 10 * self._max_files)
        self._remove_trash()
        self._usage, self._is_withheld = _measured(self.folder, self._max_files), False
        if trash.exists():
            raise UserError(phrase("Partly removed; the rest is in {path}.", path=str(trash)))
        return freed

    def tidy_later(self) -> None:
        """Look at its size in the background if it is time, and make room where it is too large."""
        if self.max_size and time.monotonic() >= self._next_look and self._thread is None:
            self._thread = threading.Thread(target=self._tidy, name="home-tidy", daemon=True)
            self._thread.start()

    def warnings(self) -> Sequence[Phrase]:
        """Return notes, once, on what was removed to make room."""
        pending, self._warnings = self._warnings, []
        return pending

    def _tidy(self) -> None:
        began = time.monotonic()
        try:
            with suppress(OSError):  # the next look tries again
                self.make_room()
        finally:
            ended = time.monotonic()
            self._next_look = ended + max(_INTERVAL, _DUTY * (ended - began))
            self._thread = None

    def make_room(self) -> None:
        """Remove the oldest caches where it is too large; if a program runs, withhold it."""
        self._remove_trash()
        self._usage = usage = _measured(self.folder, self._max_files)
        if usage.fits(self.max_size, self._max_files):
            self._is_withheld = False
            return
        try:
            lock = self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._withhold()
            return
        except OSError:
            return
        try:
            named = self._remove_oldest(usage)
        finally:
            unlock_and_close(lock)
        self._remove_trash()
        self._usage = _measured(self.folder, self._max_files)
        self._is_withheld = False
        self._warnings.append(
            phrase(
                "The programs' home folder had grown beyond {limit} MB or {files} files. Removed: "
                "{names}.",
                limit=f"{self.max_size // 1_000_000:,}",
                files=f"{self._max_files:,}",
                names=named,
            )
        )

    def _withhold(self) -> None:
        """Let it grow no more by other programs until it can be made smaller; say so once."""
        if not self._is_withheld:
            self._is_withheld = True
            self._warnings.append(
                phrase(
                    "The programs' home folder has grown beyond {limit} MB or {files} files while "
                    "a program runs on. Until that has ended the others get an empty one each.",
                    limit=f"{self.max_size // 1_000_000:,}",
                    files=f"{self._max_files:,}",
                )
            )

    def _remove_oldest(self, usage: HomeUsage) -> Phrase | str:
        """Move away what is to go, and return its names."""
        part = (_SPARE - 1) / _SPARE
        removed = usage.to_remove(int(self.max_size * part), int(self._max_files * part))
        if not usage.is_complete or len(removed) == len(usage.entries):
            self._move_all_away()
            return phrase("all of it")
        trash = self._new_trash()
        trash.mkdir(mode=0o700)
        home = os.open(self.folder, _FOLDER)
        try:
            for number, entry in enumerate(removed):
                _move(home, entry, trash / str(number))
        finally:
            os.close(home)
        names = ", ".join(visible(entry.path) for entry in removed[:_MAX_NAMED])
        return names if len(removed) <= _MAX_NAMED else f"{names}, …"

    def _replace(self) -> Path:
        """Do `_move_all_away` if nobody uses it. Raises `BlockingIOError`, `OSError`."""
        lock = self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            return self._move_all_away()
        finally:
            unlock_and_close(lock)

    def _move_all_away(self) -> Path:
        """Put a new home in the place of this one at once, and return where the old one is."""
        trash = self._new_trash()
        with suppress(FileNotFoundError):
            self.folder.rename(trash)
        self.ready()
        return trash

    def _new_trash(self) -> Path:
        """Return a path for what is moved away. It names us: nobody else removes what is there."""
        name = f"{self.folder.name}-removed-{os.getpid()}-{self._number}-{next(_NUMBERS)}"
        return self.folder.with_name(name)

    def _remove_trash(self) -> None:
        """Remove what was moved away, also by somebody who was killed before he removed it."""
        for trash in self.folder.parent.glob(f"{self.folder.name}-removed-*"):
            process, number = trash.name.split("-")[-3:-1]
            is_ours = (process, number) == (str(os.getpid()), str(self._number))
            if is_ours or not start_ticks(int(process)):
                remove_scratch(trash)

    def _lock(self, operation: int) -> int:
        lock = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, operation)
        except BaseException:
            os.close(lock)
            raise
        return lock


def _measured(folder: Path, max_files: int) -> HomeUsage:
    from modules.sandbox.home.usage import measure  # once there is something to measure

    return measure(folder, max_files)


def _move(home: int, entry: HomeEntry, target: Path) -> None:
    """Move *entry* of the folder *home* to *target*, following no link on the way."""
    *above, name = entry.path.split("/", 1)
    with suppress(OSError):  # gone by now, or closed to us for good
        folder = os.open(above[0], _FOLDER, dir_fd=home) if above else os.dup(home)
        try:
            try:
                os.rename(name, target, src_dir_fd=folder)  # noqa: PTH104 - by descriptor
            except PermissionError:  # a locked folder does not move to another
                os.chmod(name, 0o700, dir_fd=folder)  # noqa: PTH101
                os.rename(name, target, src_dir_fd=folder)  # noqa: PTH104
        finally:
            os.close(folder)
