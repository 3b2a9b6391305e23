"""Journal of a take-over of git's state: one that was cut short by a kill is brought to its end."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.files.git.state_changes import (
    GitStateChange,
    StateLocked,
    StateMoved,
    apply_changes,
    remove_stale_locks,
)
from utils.system.atomic_write import sync_folder
from utils.system.file_lock import unlock_and_close


class TakeoverJournal:
    """The changes that are being made in the repository *git*, on disk in *folder* meanwhile.

    The process that makes them holds its lock: if nobody does, that was killed.
    """

    def __init__(self, git: Path, folder: Path) -> None:
        self._git = git
        name = hashlib.sha256(os.fsencode(git)).hexdigest()[:16]
        self._path = folder / f"takeover-{name}"

    def apply(self, changes: Sequence[GitStateChange]) -> None:
        """Make *changes*, all or none, also if we are killed meanwhile. Raises as they do."""
        with self._opened(os.O_CREAT) as descriptor:
            rows = [[change.name, _encoded(change.old), _encoded(change.new)] for change in changes]
            with open(descriptor, "wb", closefd=False) as file:  # noqa: PTH123 - it is open
                file.write(json.dumps(rows).encode())
                file.flush()
                os.fsync(descriptor)
            sync_folder(self._path.parent)
            apply_changes(self._git, changes)
            self._path.unlink()

    def recover(self) -> None:
        """Bring to its end what a kill cut short, where nobody has changed it since."""
        if not self._path.exists():
            return
        with suppress(BlockingIOError, FileNotFoundError), self._opened(0) as descriptor:
            with open(descriptor, "rb", closefd=False) as file:  # noqa: PTH123 - it is open
                changes = _changes_in(file.read())
            with suppress(StateMoved, StateLocked, ValueError):
                remove_stale_locks(self._git, changes)
                apply_changes(self._git, changes)
            self._path.unlink()

    @contextmanager
    def _opened(self, flags: int) -> Iterator[int]:
        """Have the file open and locked. Raises `BlockingIOError` if somebody else has it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if flags:
                os.ftruncate(descriptor, 0)
            yield descriptor
        finally:
            unlock_and_close(descriptor)


def _encoded(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")


def _changes_in(data: bytes) -> list[GitStateChange]:
    """Return what `apply` wrote; nothing if that was cut short, before anything was changed."""
    try:
        rows = json.loads(data)
    except ValueError:
        return []
    return [GitStateChange(name, _decoded(old), _decoded(new)) for name, old, new in rows]


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
