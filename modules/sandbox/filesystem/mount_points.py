"""Mount points that a sandbox needs in the project where there is nothing, and their removal.

To keep a name free (`.git` in a folder without a repository), something has to be mounted on it:
an empty folder in the person's project. It is taken away when the last sandbox of the project has
ended: earlier, the protection of a living one would go with it. If Onefold is killed, a
`MountCleaner` does it. The folder it is in keeps its time, which is the person's.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.sandbox.run.mount_cleanup import MountCleaner
from utils.system.file_lock import unlock_and_close


class MountPoints:
    """The mount points of one project that are ours; several processes may share it."""

    def __init__(self, project: Path, cache_folder: Path) -> None:
        self._project = project
        name = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
        self._file = cache_folder / f"mounts-{name}"
        self._cleaner: MountCleaner | None = None

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of *names* that are not there, or only as an empty folder of ours."""
        recorded = self._recorded() if self._file.exists() else set()
        return tuple(
            name
            for name in names
            if not os.path.lexists(self._project / name)
            or (name in recorded and is_empty_folder(self._project / name))
        )

    @contextmanager
    def reserved(self, names: Sequence[str]) -> Iterator[int | None]:
        """Reserve the mount points *names* while the block lasts.

        Yield the descriptor that each sandbox keeps open until it has ended, if any.
        """
        if not names:
            yield None
            return
        with self._locked(fcntl.LOCK_SH) as record:
            if new := set(names) - self._recorded():
                os.write(record, "".join(f"{name}\n" for name in sorted(new)).encode())
            yield self._made(names)

    @contextmanager
    def reserved_exclusively(self, names: Sequence[str]) -> Iterator[int]:
        """Reserve *names*, of which none exists, for us alone while the block lasts; as `reserved`.

        Raises `BlockingIOError` when somebody uses them, `FileExistsError` when one exists.
        """
        with self._locked(fcntl.LOCK_EX | fcntl.LOCK_NB) as record:
            for name in names:
                if os.path.lexists(self._project / name):
                    raise FileExistsError(name)
            os.write(record, "".join(f"{name}\n" for name in names).encode())
            yield self._made(names)

    @contextmanager
    def unused(self) -> Iterator[None]:
        """Keep all others from using any while the block lasts.

        Raises `BlockingIOError` when somebody does.
        """
        with self._locked(fcntl.LOCK_EX | fcntl.LOCK_NB):
            yield

    def remove_record(self) -> None:
        """Remove our record; only for a project that nobody else knows of."""
        self._file.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, operation: int) -> Iterator[int]:
        """Have the record open and locked; at the end, remove what nobody needs any more."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        record = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_APPEND, 0o600)
        try:
            fcntl.flock(record, operation)
            yield record
        finally:
            self._remove_if_last(record)
            unlock_and_close(record)

    def _made(self, names: Sequence[str]) -> int:
        """Make the folders *names*, which are recorded; return the descriptor of `reserved`."""
        sync_fd = self._sync_fd()
        for name in names:
            path = self._project / name
            with suppress(OSError), _unchanged_time(path.parent):  # bubblewrap says why it cannot
                path.mkdir(mode=0o755)
        return sync_fd

    def _sync_fd(self) -> int:
        if self._cleaner is None:
            self._cleaner = MountCleaner(self._project, self._file)
            weakref.finalize(self, self._cleaner.close)
        return self._cleaner.sync_fd

    def _remove_if_last(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        for name in self._recorded():
            path = self._project / name
            with suppress(OSError), _unchanged_time(path.parent):  # not empty, so not ours any more
                path.rmdir()
        os.ftruncate(descriptor, 0)

    def _recorded(self) -> set[str]:
        return set(self._file.read_text(encoding="utf-8").split("\n")) - {""}


@contextmanager
def _unchanged_time(folder: Path) -> Iterator[None]:
    """Leave the time of *folder* as it is, whatever the block makes or removes in it."""
    status = folder.stat()
    yield
    os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns))


def is_empty_folder(path: Path) -> bool:
    """Return whether *path* is a folder, no link to one, in which we see nothing."""
    try:
        return not path.is_symlink() and not any(path.iterdir())
    except OSError:
        return False
