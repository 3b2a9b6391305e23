"""Who is changing the project folder now: one Onefold at a time, and others are told which."""

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
from utils.system.file_lock import free


@dataclass
class _Lock:
    """The lock that this process has, and the sessions that are at work under it."""

    handle: int
    sessions: dict[ProjectLock, str] = field(default_factory=dict)
    is_alone: bool = False


_guard = threading.Lock()
_locks: dict[Path, _Lock] = {}


class ProjectLock:
    """A lock on the project, held by the file *path* from `begin` to `end`, and freed by a kill.

    The sessions of one process share it: they wait for nobody, and the last one frees it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.parent.resolve() / path.name

    @property
    def is_ours(self) -> bool:
        """Whether a turn of this session is at work."""
        with _guard:
            lock = _locks.get(self._path)
            return lock is not None and self in lock.sessions

    def begin(self, session: str) -> None:
        """Take the lock, or join those who have it. Raises `UserError` that says who has it."""
        with _guard:
            lock = _locks.get(self._path)
            if lock is None:
                lock = _locks[self._path] = _Lock(self._taken(session))
            elif lock.is_alone and self not in lock.sessions:
                raise _busy(lock)
            lock.sessions[self] = session

    @contextmanager
    def alone(self, session: str) -> Iterator[None]:
        """Take the lock for a while. Raises `UserError` when anybody is at work, here or elsewhere.

        Within a turn of this session nothing else can be.
        """
        if self.is_ours:
            yield
            return
        with _guard:
            if lock := _locks.get(self._path):
                raise _busy(lock)
            _locks[self._path] = _Lock(self._taken(session), {self: session}, is_alone=True)
        try:
            yield
        finally:
            self.end()

    def end(self) -> None:
        with _guard:
            lock = _locks.get(self._path)
            if lock and lock.sessions.pop(self, None) is not None and not lock.sessions:
                free(_locks.pop(self._path).handle)

    def _taken(self, session: str) -> int:
        """Return a handle of the file, locked, with us named in it. Raises `UserError`."""
        with explained(self._path):
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise UserError(self._told()) from None
        with suppress(OSError):  # a full disk: then nobody knows our name
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()} {session}".encode(), 0)
        return handle

    def _told(self) -> Phrase:
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
