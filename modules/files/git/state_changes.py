"""Changes of a repository's state, found between two of its states and made under git's own locks.

A ref counts as what it is, be it a file of its own or a line of `packed-refs`. A change is made
only where the repository still is as it says; else nothing is, so that the person's own git beside
us is never overwritten.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from modules.files.git.index_file import same_index
from modules.files.git.state_names import (
    Refs,
    is_ref,
    own_name,
    parse_packed_refs,
    split_submodule,
    without_packed_refs,
)

_PACKED = "packed-refs"
_LOCK_SECONDS = 1.0  # as git waits for a lock of `packed-refs`
_LOCK_INTERVAL = 0.02  # seconds
_KEPT_FOLDERS = frozenset({"refs", "refs/heads", "refs/tags", "logs", "logs/refs", "worktrees"})
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class StateMoved(Exception):
    """Somebody has changed the repository meanwhile: *name* is not what it was."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class StateLocked(Exception):
    """Another git is at work: it holds the lock *name*."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, slots=True)
class GitStateChange:
    """The file or the ref *name* becomes *new* if it is *old*; None is for nothing being there.

    Of a ref, both are its value without the end of the line.
    """

    name: str
    old: bytes | None
    new: bytes | None

    @property
    def is_ref(self) -> bool:
        return is_ref(self.name)


@dataclass(frozen=True)
class GitState:
    """State of a repository: *digests* of its files by name; *read* returns what is in one."""

    digests: Mapping[str, str]
    read: Callable[[str], bytes]

    @cached_property
    def _packed(self) -> dict[str, Refs]:
        return {}

    def packed(self, name: str) -> Refs:
        """Return the refs in the file `packed-refs` beside the ref *name*, of which this reads all.

        Their names are those in its repository. Raises `ValueError` for what git does not write.
        """
        file = _packed_file(name)
        if file not in self._packed:
            content = self.read(file) if file in self.digests else b""
            self._packed[file] = parse_packed_refs(content)
        return self._packed[file]

    def content(self, name: str) -> bytes | None:
        return self.read(name) if name in self.digests else None

    def ref(self, name: str) -> bytes | None:
        value = self.content(name)
        return self.packed(name).get(own_name(name)) if value is None else value.strip()


def _packed_file(name: str) -> str:
    """Return the name of the file `packed-refs` of the repository that *name* is in."""
    return split_submodule(name)[0] + _PACKED


def changes_between(before: GitState, after: GitState) -> list[GitStateChange]:
    """Return what is to be done to come from *before* to *after*, sorted by name.

    Raises `ValueError` where the refs of one cannot be read.
    """
    names = before.digests.keys() | after.digests.keys()
    differing = {name for name in names if before.digests.get(name) != after.digests.get(name)}
    refs = {name for name in differing if is_ref(name)}
    packed_files = {name for name in differing if name == _packed_file(name)}
    for file in packed_files:
        old, new = before.packed(file), after.packed(file)
        packed_names = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
        refs |= {file.removesuffix(_PACKED) + name for name in packed_names}
    changes = [GitStateChange(name, before.ref(name), after.ref(name)) for name in refs]
    changes += [
        GitStateChange(name, before.content(name), after.content(name))
        for name in differing - refs - packed_files
    ]
    return sorted((c for c in changes if c.old != c.new), key=lambda change: change.name)


def apply_changes(git: Path, changes: Sequence[GitStateChange]) -> None:
    """Make *changes* in the repository *git*, all or none, under the locks that git takes.

    What already is as it is to be counts as done. Raises `StateMoved`, `StateLocked` and
    `ValueError` (a name that leads elsewhere) before anything is changed; `OSError`.
    """
    for change in changes:
        _check_name(change.name)
    with ExitStack() as stack:
        locks = _Locks(git, stack)
        for name in _locked_names(changes):
            locks.take(name)
        packed = {file: _PackedRefs(git, file) for file in _packed_files(changes)}
        pending = [change for change in changes if not _is_done(git, change, packed)]
        deleted = [change for change in pending if change.new is None]
        for file, refs in packed.items():
            refs.remove(_refs_beside(file, deleted), locks)
        for change in deleted:
            _remove(git, change.name)
            locks.give_back(change.name)  # a folder of that name may come in its place
        for change in pending:
            if change.new is not None:
                _write(git, change.name, change.new + b"\n" if change.is_ref else change.new, locks)


def remove_stale_locks(git: Path, changes: Sequence[GitStateChange]) -> None:
    """Remove the locks that an `apply_changes` of *changes* left that was killed.

    Only such as hold what it would write, or the beginning of it, are its own.
    """
    contents = {c.name: (c.new or b"") + (b"\n" if c.is_ref else b"") for c in changes}
    with suppress(StateMoved):
        deleted = [change for change in changes if change.new is None]
        for file in _packed_files(changes):
            gone = dict.fromkeys(_refs_beside(file, deleted))
            contents[file] = without_packed_refs(read_state_file(git, file) or b"", gone)
    for name in _locked_names(changes):
        lock = f"{name}.lock"
        with suppress(StateMoved, FileNotFoundError):
            left = read_state_file(git, lock)
            if left is not None and contents.get(name, b"").startswith(left):
                (git / lock).unlink()


def _check_name(name: str) -> None:
    """Refuse a name that leads out of its folder: of packed refs, a program may write any."""
    if "\0" in name or not {"", ".", ".."}.isdisjoint(name.split("/")):
        raise ValueError(f"no name in a repository: {name!r}")


def _locked_names(changes: Sequence[GitStateChange]) -> list[str]:
    """Return the names whose locks git takes before it changes any of these, in a fixed order."""
    names = {_locked_name(change.name) for change in changes} - {""}
    return sorted(names | _packed_files(changes))


def _packed_files(changes: Sequence[GitStateChange]) -> set[str]:
    """Return the files `packed-refs` that may hold refs which are changed."""
    return {_packed_file(change.name) for change in changes if change.is_ref}


def _refs_beside(packed_file: str, changes: Sequence[GitStateChange]) -> set[str]:
    """Return the refs of *changes* that *packed_file* may hold, by their names in there."""
    refs = (change.name for change in changes if change.is_ref)
    return {own_name(name) for name in refs if _packed_file(name) == packed_file}


def _locked_name(name: str) -> str:
    submodule, own = split_submodule(name)
    locked = _locked_own_name(own)
    return f"{submodule}{locked}" if locked else ""


def _locked_own_name(name: str) -> str:
    head, _, inner = name.rpartition("/") if name.startswith("worktrees/") else ("", "", name)
    if inner in ("HEAD", "index") and head.count("/") <= 1:
        return name
    if name.startswith("refs/"):
        return name
    if name.startswith("logs/"):  # who holds the ref holds its log
        return name.removeprefix("logs/")
    return ""


class _Locks:
    """Locks of git that we hold, each a file `NAME.lock`; given back when *stack* ends."""

    def __init__(self, git: Path, stack: ExitStack) -> None:
        self._git = git
        self._stack = stack
        self._held: set[str] = set()

    def take(self, name: str) -> None:
        """Take the lock of *name*. Raises `StateLocked` if another git has it and keeps it.

        Where a file stands in the place of a folder on the way there, nobody can have it.
        """
        path = self._git / f"{name}.lock"
        end = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                _make_folders(self._git, path.parent)
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            except FileExistsError:
                if time.monotonic() > end:
                    raise StateLocked(f"{name}.lock") from None
                time.sleep(_LOCK_INTERVAL)
            except NotADirectoryError:
                return
            else:
                self._held.add(name)
                self._stack.callback(self.give_back, name)
                return

    def give_back(self, name: str) -> None:
        """Give the lock of *name* back, if we hold it."""
        if name in self._held:
            self._held.remove(name)
            path = self._git / f"{name}.lock"
            path.unlink(missing_ok=True)
            _remove_empty_folders(self._git, path.parent)

    def replace(self, name: str, content: bytes) -> None:
        """Make *content* that of *name*, by its lock if we hold that, as git does."""
        path = self._git / name
        lock = path.with_name(f"{path.name}.lock" if name in self._held else f"{path.name}.new")
        mode = stat.S_IMODE(path.lstat().st_mode) if path.exists() else None
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(lock, flags, 0o666), "wb") as file:
            file.write(content)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        lock.replace(path)
        self._held.discard(name)


@dataclass(frozen=True)
class _PackedRefs:
    """The *file* `packed-refs` in *git*, read when it is asked for."""

    git: Path
    file: str

    @cached_property
    def content(self) -> bytes:
        return read_state_file(self.git, self.file) or b""

    @cached_property
    def refs(self) -> Refs:
        try:
            return parse_packed_refs(self.content)
        except ValueError:
            raise StateMoved(self.file) from None

    def remove(self, names: set[str], locks: _Locks) -> None:
        gone = {name: b"" for name in names if name in self.refs} if names else {}
        if gone:
            locks.replace(self.file, without_packed_refs(self.content, gone))


def _is_done(git: Path, change: GitStateChange, packed: Mapping[str, _PackedRefs]) -> bool:
    """Return whether *change* is made already. Raises `StateMoved` if it cannot be."""
    current = read_state_file(git, change.name)
    if change.is_ref:
        refs = packed[_packed_file(change.name)]
        current = refs.refs.get(own_name(change.name)) if current is None else current.strip()
    if current == change.new:
        return True
    folder, _, name = change.name.rpartition("/")
    beside = f"{folder}/" if folder else ""
    if current == change.old or (
        name == "index"
        and current
        and change.old
        and same_index(current, change.old, lambda one: read_state_file(git, beside + one))
    ):
        return False
    raise StateMoved(change.name)


def read_state_file(git: Path, name: str) -> bytes | None:
    """Return what is in the file *name* of *git*, None if nothing is there.

    Raises `StateMoved` for what is no plain file, or is reached by a link.
    """
    path = git / name
    if any(one.is_symlink() for one in (*path.parents[: name.count("/")], path)):
        raise StateMoved(name)
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(mode):
        return None
    if not stat.S_ISREG(mode):
        raise StateMoved(name)
    with os.fdopen(os.open(path, _READ_FLAGS), "rb") as file:
        return file.read()


def _write(git: Path, name: str, content: bytes, locks: _Locks) -> None:
    path = git / name
    _make_folders(git, path.parent)
    if path.is_dir() and not path.is_symlink():
        for folder in [*_folders_below(path), path]:  # empty: what was in it is gone by now
            folder.rmdir()
    locks.replace(name, content)


def _folders_below(folder: Path) -> Iterator[Path]:
    """Yield the folders below *folder*, the deepest first."""
    for path in sorted(folder.rglob("*"), key=lambda one: len(one.parts), reverse=True):
        if path.is_dir() and not path.is_symlink():
            yield path


def _remove(git: Path, name: str) -> None:
    path = git / name
    path.unlink(missing_ok=True)
    _remove_empty_folders(git, path.parent)


def _make_folders(git: Path, folder: Path) -> None:
    """Make *folder* in *git* with those on the way. Raises `StateMoved` at a link."""
    missing = []
    while folder != git:
        if folder.is_symlink():
            raise StateMoved(folder.relative_to(git).as_posix())
        if not folder.is_dir():
            missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        if one.exists():
            raise NotADirectoryError(os.fspath(one))
        one.mkdir(exist_ok=True)


def _remove_empty_folders(git: Path, folder: Path) -> None:
    with suppress(OSError):  # not empty
        while folder != git and own_name(folder.relative_to(git).as_posix()) not in _KEPT_FOLDERS:
            folder.rmdir()
            folder = folder.parent
