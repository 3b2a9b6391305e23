"""Opening what lies beneath one folder, whatever happens to a path while we look at it.

Nothing is checked first and opened later: every step opens one name in a folder that is open
already, and follows no link of its own accord. Where Linux has openat2, it does so in one call.
Facts: openat2(2), renameat2(2); "..", links and mounts as in path_resolution(7).
"""

from __future__ import annotations

import copy
import errno
import os
import stat
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

from modules.files import kernel
from utils.text.git_names import is_git_name

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PATH_FLAGS = getattr(os, "O_PATH", READ_FLAGS)
_MAX_LINKS = 40


class OutsideFolder(Exception):
    """Path that leads out of the folder."""


class ProtectedPath(Exception):
    """Path into a folder that must not be touched."""


class SymlinkInPath(Exception):
    """Symbolic link where none may be followed; *target* is what it says."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.target = target


class NotRegularFile(Exception):
    """Path of something that is neither a file nor a folder nor a link."""


class ContentChanged(Exception):
    """The file no longer has the content it was expected to have."""


class DirectoryItem(NamedTuple):
    """One name in a folder; *size* in bytes, *mtime_ns* in nanoseconds since the epoch."""

    name: str
    mode: int
    size: int
    mtime_ns: int

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)


class ConfinedFolder:
    """Folder *root*, kept open, that no path leaves; paths are relative, '/'-separated, '' is it.

    Reading follows links as long as they stay inside. Writing follows none at all, and never
    enters a folder of git's (but see `with_git_writable`). *hidden* folders cannot even be read,
    and what is in *own_paths* (paths in it, there or not) is never written. Both are recognised by
    device and inode number, whatever name leads to them. Besides the exceptions above everything
    raises `OSError`.
    """

    def __init__(
        self, root: Path, *, hidden: Iterable[Path] = (), own_paths: Iterable[str] = ()
    ) -> None:
        self.descriptor = os.open(root, _FOLDER_FLAGS)
        self._close = weakref.finalize(self, os.close, self.descriptor)
        self._lender: Self | None = None  # whose descriptor it is, if another's
        self.own_paths = tuple(own_paths)
        self._root_paths = {str(path).rstrip("/") for path in (root.absolute(), root.resolve())}
        self.hidden = [name for path in hidden if (name := self._relative(path))]
        self._has_openat2 = not self.hidden and kernel.has_openat2(self.descriptor)
        self._has_proc_fd = Path("/proc/self/fd").is_dir()
        self._protects_git = True

    def with_git_writable(self) -> Self:
        """Return the same folder, its descriptor shared, in whose git folders may be written.

        These themselves can be neither made nor moved nor deleted even so.
        """
        other = copy.copy(self)
        other._lender = self
        other._protects_git = False
        return other

    def close(self) -> None:
        """Close the folder, once; it is closed as well when nobody has this object any more."""
        self._close()

    def is_hidden(self, path: str) -> bool:
        """Return whether *path* is in a hidden folder, by its name."""
        return any(f"{path}/".startswith(f"{folder}/") for folder in self.hidden)

    def proc_path(self, descriptor: int) -> Path | None:
        """Return a path that leads to *descriptor* as long as it is open, where there are such."""
        return Path(f"/proc/self/fd/{descriptor}") if self._has_proc_fd else None

    # Reading

    def lstat(self, path: str) -> os.stat_result:
        """Return the state of *path* itself, a last link not followed."""
        if self._has_openat2 and path:
            with (
                suppress(kernel.Undecided),
                self.closing(self._open_path(path, os.O_NOFOLLOW)) as path_fd,
            ):
                return os.fstat(path_fd)
        if not path:
            return os.fstat(self.descriptor)
        with self.open_parent(path, writing=False) as (folder, name):
            return self._refuse_hidden(os.stat(name, dir_fd=folder, follow_symlinks=False))

    def read(self, path: str, limit: int) -> bytes:
        """Return at most *limit* bytes of the regular file *path*. Never blocks on a FIFO."""
        with self.open_file(path) as file, os.fdopen(os.dup(file), "rb") as stream:
            return stream.read(limit)

    @contextmanager
    def open_file(self, path: str, *, follow_links: bool = True) -> Iterator[int]:
        """Yield a descriptor of the regular file *path*, for reading; without *follow_links* no
        link."""
        if self._has_openat2 and path:
            last_flag = 0 if follow_links else os.O_NOFOLLOW
            with (
                suppress(kernel.Undecided),
                self.closing(self._open_path(path, last_flag)) as path_fd,
            ):
                with self.closing(self._open_for_reading(path_fd, "", self.descriptor)) as file:
                    yield file
                return
        with self._open_file_stepwise(path, follow_links) as file:
            yield file

    @contextmanager
    def open_folder(self, path: str, *, writing: bool = False) -> Iterator[int]:
        """Yield a descriptor of the folder *path*."""
        if self._has_openat2 and path and not writing:
            with (
                suppress(kernel.Undecided),
                self.closing(self._openat2(path, _FOLDER_FLAGS)) as folder,
            ):
                yield folder
                return
        with self.closing(self._open_folder_stepwise(path, writing=writing)) as folder:
            yield folder

    def scan(self, path: str, limit: int | None = None) -> list[DirectoryItem]:
        """Return what is in the folder *path*, hidden folders left out, by name.

        With a *limit*, no more than so many, whichever the system names first.
        """
        with self.open_folder(path) as folder, os.scandir(folder) as entries:
            items = []
            hidden = self._hidden_identities()
            for entry in islice(entries, limit):
                with suppress(FileNotFoundError):  # deleted since the folder was listed
                    status = entry.stat(follow_symlinks=False)
                    if identity_of(status) not in hidden:
                        size, modified = status.st_size, status.st_mtime_ns
                        items.append(DirectoryItem(entry.name, status.st_mode, size, modified))
        return sorted(items, key=lambda item: item.name)

    def list_names(self, path: str) -> list[tuple[str, bool]]:
        """Return the names in the folder *path*, in no order, and whether each is a folder.

        Hidden folders are left out. Where there are many this takes a fraction of `scan`.
        """
        with self.open_folder(path) as folder, os.scandir(folder) as entries:
            hidden = self._hidden_identities()
            return [
                (entry.name, is_folder)
                for entry in entries
                if not (is_folder := entry.is_dir(follow_symlinks=False))
                or not hidden
                or identity_of(entry.stat(follow_symlinks=False)) not in hidden
            ]

    @contextmanager
    def open_parent(self, path: str, *, writing: bool = True) -> Iterator[tuple[int, str]]:
        """Yield a descriptor of the folder that *path* is in, and its last name."""
        parent_path, _, name = path.rpartition("/")
        if not name or name == "..":
            raise OutsideFolder
        if writing and is_git_name(name):
            raise ProtectedPath
        with self.open_folder(parent_path, writing=writing) as folder:
            if writing and self.own_paths:
                self._refuse_own(path, folder, name)
            yield folder, name

    def _refuse_own(self, path: str, folder: int, name: str) -> None:
        """Raise `ProtectedPath` if *path*, which is *name* in *folder*, is in `own_paths`."""
        if any(f"{path}/".startswith(f"{own}/") for own in self.own_paths):
            raise ProtectedPath
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if identity_of(status) in self._identities(self.own_paths):
                raise ProtectedPath

    # The steps

    def _open_path(self, path: str, flags: int) -> int:
        return self._openat2(path, flags | _PATH_FLAGS | os.O_CLOEXEC)

    def _openat2(self, path: str, flags: int) -> int:
        return kernel.openat2(self.descriptor, path, flags)

    def _open_folder_stepwise(self, path: str, *, writing: bool) -> int:
        """Return a descriptor of the folder *path*, every name opened in the folder before it.

        ".." goes back to the folder that is open, so that no move of a folder can lead outside.
        """
        # Opened anew: where a duplicate is listed to, another thread's duplicate is as well.
        open_fds = [os.open(".", _FOLDER_FLAGS, dir_fd=self.descriptor)]
        remaining = _parts(path)[::-1]
        followed = 0
        try:
            while remaining:
                name = remaining.pop()
                if name == "..":
                    _close_all(open_fds, len(open_fds) - 1)
                elif (target := self._descend(open_fds, name, writing)) is not None:
                    followed += 1
                    if followed > _MAX_LINKS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                    remaining += self._link_parts(target, open_fds)[::-1]
                if not open_fds:
                    raise OutsideFolder
            return open_fds.pop()
        finally:
            _close_all(open_fds, 0)

    def _descend(self, open_fds: list[int], name: str, writing: bool) -> str | None:
        """Open the folder *name* in the last of *open_fds*; return where a link in its place
        leads."""
        if writing and self._protects_git and is_git_name(name):
            raise ProtectedPath
        try:
            folder = os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=open_fds[-1])
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            target = link_target(open_fds[-1], name)
            if target is None:
                raise
            if writing:
                raise SymlinkInPath(target) from None
            return target
        open_fds.append(folder)
        status = self._refuse_hidden(os.fstat(folder))
        if writing and self._protects_git and self._is_git(folder):
            raise ProtectedPath
        if writing and self.own_paths and identity_of(status) in self._identities(self.own_paths):
            raise ProtectedPath
        return None

    def _link_parts(self, target: str, open_fds: list[int]) -> list[str]:
        """Return the names to go on with after a link to *target*."""
        if not target.startswith("/"):
            return _parts(target)
        for root in self._root_paths:
            if target == root or target.startswith(f"{root}/"):
                _close_all(open_fds, 1)
                return _parts(target[len(root) :])
        raise OutsideFolder

    @contextmanager
    def _open_file_stepwise(self, path: str, follow_links: bool) -> Iterator[int]:
        for _ in range(_MAX_LINKS):
            with self.open_parent(path, writing=False) as (folder, name):
                target = link_target(folder, name) if follow_links else None
                if target is None:
                    path_fd = os.open(
                        name, _PATH_FLAGS | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder
                    )
                    with (
                        self.closing(path_fd),
                        self.closing(self._open_for_reading(path_fd, name, folder)) as file,
                    ):
                        yield file
                    return
            path = self._follow_link(path, target)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _follow_link(self, path: str, target: str) -> str:
        """Return the path that the link *path* leads to, its ".." left for the walk."""
        if target.startswith("/"):
            return "/".join(self._link_parts(target, []))
        return f"{path.rpartition('/')[0]}/{target}".removeprefix("/")

    def _open_for_reading(self, path_fd: int, name: str, folder: int) -> int:
        """Return a descriptor for reading what *path_fd* is, if that is a regular file.

        *path_fd* was opened without touching the file: a device or FIFO is refused unopened.
        """
        status = self._refuse_hidden(os.fstat(path_fd))
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularFile
        if _PATH_FLAGS == READ_FLAGS:
            return os.dup(path_fd)
        if self._has_proc_fd:
            return os.open(f"/proc/self/fd/{path_fd}", READ_FLAGS)
        if not name:
            raise kernel.Undecided
        file = os.open(name, READ_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
        if not os.path.sameopenfile(path_fd, file):
            os.close(file)
            raise ContentChanged
        return file

    def _relative(self, path: Path) -> str:
        """Return the path of the folder *path* relative to the root, "" if it is not inside."""
        resolved = str(path.resolve())
        roots = (root for root in self._root_paths if resolved.startswith(f"{root}/"))
        return next((resolved[len(root) + 1 :] for root in roots), "")

    def _hidden_identities(self) -> set[tuple[int, int]]:
        """Return the hidden folders that exist by now."""
        identities = set()
        for path in self.hidden:
            with suppress(OSError):
                identities.add(identity_of(os.stat(path, dir_fd=self.descriptor)))
        return identities

    def _identities(self, paths: Iterable[str]) -> set[tuple[int, int]]:
        """Return what those of *paths* are that exist, links themselves."""
        identities = set()
        for path in paths:
            with suppress(OSError):
                identities.add(
                    identity_of(os.stat(path, dir_fd=self.descriptor, follow_symlinks=False))
                )
        return identities

    def _is_git(self, folder: int) -> bool:
        """Return whether *folder* is a repository, whatever its name, or what lies at `.git`."""
        return identity_of(os.fstat(folder)) == self._git_identity() or is_repository(folder)

    def _git_identity(self) -> tuple[int, int] | None:
        with suppress(OSError):
            return identity_of(os.stat(".git", dir_fd=self.descriptor, follow_symlinks=False))
        return None

    def _refuse_hidden(self, status: os.stat_result) -> os.stat_result:
        if self.hidden and identity_of(status) in self._hidden_identities():
            raise ProtectedPath
        return status

    @contextmanager
    def closing(self, descriptor: int) -> Iterator[int]:
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _close_all(open_fds: list[int], keep: int) -> None:
    """Close all but the first *keep* descriptors of *open_fds*."""
    while len(open_fds) > keep:
        os.close(open_fds.pop())


def link_target(folder: int, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)  # noqa: PTH115 - pathlib knows no descriptors
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def is_repository(folder: int, path: str = "") -> bool:
    """Return whether git takes *path* in *folder* for a repository, whatever its name."""
    try:
        kinds = [
            stat.S_IFMT(os.stat(os.path.join(path, name), dir_fd=folder).st_mode)  # noqa: PTH118
            for name in ("HEAD", "objects", "refs")
        ]
    except OSError:
        return False
    return kinds == [stat.S_IFREG, stat.S_IFDIR, stat.S_IFDIR]


def identity_of(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
