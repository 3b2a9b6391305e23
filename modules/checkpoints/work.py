"""Who is changing the project folder now: one Onefold at a time, and others are told which."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from utils.phrases import Phrase, Problem, phrase


class Work:
    """A lock on the project, held by the file *path* from `begin` to `end`, and freed by a kill.

    The sessions of one process share it: they wait for nobody, as they always did.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def begin(self, session: str) -> None:
        """Take the lock. Raises `Problem` that says who has it."""
        if self._handle is not None:
            return
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            why = error.strerror or str(error)
            raise Problem(
                phrase(
                    "Checkpoints cannot be kept in {path}: {why}.", path=str(self._path), why=why
                )
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            if told := self.other():
                raise Problem(told) from None
            return
        self._handle = handle
        with suppress(OSError):  # a full disk: then nobody knows our name
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()} {session}".encode(), 0)

    @contextmanager
    def alone(self, session: str) -> Iterator[None]:
        """Take the lock for a while. Raises `Problem` when anybody is at work, here or elsewhere.

        Within a turn of this session nothing else can be.
        """
        if self._handle is not None:
            yield
            return
        self.begin(session)
        if self._handle is None:
            raise Problem(
                phrase(
                    "Session {session} is at work in this folder; wait for it, or stop it.",
                    session=self._holder()[1],
                )
            )
        try:
            yield
        finally:
            self.end()

    def end(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def other(self) -> Phrase | None:
        """Return who else is at work, None for nobody."""
        if self._handle is not None:
            return None
        try:
            with self._path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except BlockingIOError:
            pid, session = self._holder()
        except OSError:
            return None
        if pid == str(os.getpid()):
            return None
        return phrase(
            "Another Onefold (process {pid}, session {session}) is at work in this folder. Reading "
            "is possible; change things when it is done.",
            pid=pid,
            session=session,
        )

    def _holder(self) -> tuple[str, str]:
        """Return the process and the session of whoever has the lock."""
        pid, _, session = self._path.read_text(errors="replace").partition(" ")
        return pid, session
