"""Lock on the project folder: one Onefold changes it at a time, and others are told which."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from modules.checkpoints.store.store_lock import explained
from utils.i18n import Phrase, UserError, phrase
from utils.system.file_lock import unlock_and_close


@dataclass
class _Lock:
    """Lock held by this process, and the sessions that work under it."""

    descriptor: int
    sessions: dict[ProjectLock, str] = field(default_factory=dict)
    is_exclusive: bool = False


_guard = threading.Lock()
_locks: dict[Path, _Lock] = {}


class ProjectLock:
    """A lock on the project, held by the file *path* from `acquire` to `release`, and freed by a
    kill.

    The sessions of one process share it: they wait for nobody, and the last one frees it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.parent.resolve() / path.name

    @property
    def is_held(self) -> bool:
        """Whether a turn of this session is at work."""
        with _guard:
            lock = _locks.get(self._path)
            return lock is not None and self in lock.sessions

    @property
    def is_alone(self) -> bool:
        """Whether this session is at work, and no other one, here or elsewhere."""
        with _guard:
            lock = _locks.get(self._path)
            return lock is not None and [*lock.sessions] == [self]

    def acquire(self, session: str) -> None:
        """Take the lock, or join those who have it. Raises `UserError` that says who has it."""
        with _guard:
            lock = _locks.get(self._path)
            if lock is None:
                lock = _locks[self._path] = _Lock(self._lock_file(session))
            elif lock.is_exclusive and self not in lock.sessions:
                raise _busy(lock)
            lock.sessions[self] = session

    @contextmanager
    def exclusive(self, session: str) -> Iterator[None]:
        """Take the lock for a while. Raises `UserError` when anybody is at work, here or elsewhere.

        Within a turn of this session nothing else can be.
        """
        if self.is_held:
            yield
            return
        with _guard:
            if lock := _locks.get(self._path):
                raise _busy(lock)
            _locks[self._path] = _Lock(self._lock_file(session), {self: session}, is_exclusive=True)
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        with _guard:
            lock = _locks.get(self._path)
            if lock and lock.sessions.pop(self, None) is not None and not lock.sessions:
                unlock_and_close(_locks.pop(self._path).descriptor)

    def _lock_file(self, session: str) -> int:
        """Return a handle of the file, locked, with us named in it. Raises `UserError`."""
        with explained(self._path):
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise UserError(self._busy_elsewhere()) from None
        with suppress(OSError):  # a full disk: then nobody knows our name
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {session}".encode(), 0)
        return descriptor

    def _busy_elsewhere(self) -> Phrase:
        """Say which process and which session have the lock."""
        pid, _, session = self._path.read_text(errors="replace").partition(" ")
        return phrase(
            "Another Onefold (process {pid}, session {session}) is at work in this folder. Reading "
            "is possible; change things when it is done.",
            pid=pid,
            session=session,
        )


def _busy(lock: _Lock) -> UserError:
    session = next(iter(lock.sessions.values()))
    return UserError(
        phrase(
            "Session {session} is at work in this folder; wait for it, or stop it.",
            session=session,
        )
    )
