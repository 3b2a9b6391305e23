"""Stand-in of a project's `.git` that programs may write to, and taking over what they did there.

A program never writes to the repository itself. What it finds at `.git` is a folder of ours with
copies of the state (branches, HEAD, the index, what is under way), config and rules; the objects
of the repository are read from where they are, and new ones stay in the stand-in. After the run we
look at what changed, take over what is state and in order, all or nothing, and nothing else: so
git can be used for all that changes only this repository, and nothing that git would run or
include on the person's side is ever written.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit, has_git, isolated_git
from modules.files.git.state_changes import (
    GitState,
    GitStateChange,
    StateLocked,
    StateMoved,
    apply_changes,
    changes_between,
    read_state_file,
)
from modules.files.git.state_names import is_state_file, may_hold_state
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.git.object_quarantine import ObjectQuarantine, ObjectsRefused
from modules.sandbox.git.state_check import StateRefused, check_changes, object_ids
from utils.i18n import Phrase, UserError, phrase
from utils.system.child import TimedOut
from utils.text.clean import visible
from utils.text.lines import first_names

OBJECTS_IN_SANDBOX = "/run/git-objects"
"""Where a program finds the objects of the repository, read-only."""

_PREFIX = "git-"
_COPIED = ("config", "shallow", "info/exclude", "info/attributes", "info/sparse-checkout")
_EXTENSIONS = re.compile(rb"^\s*\[\s*extensions|^\s*worktree\s*=", re.IGNORECASE | re.MULTILINE)
_ALTERNATES = "objects/info/alternates"
_NOT_PLAIN = ("commondir", _ALTERNATES, "reftable")
_UNTOLD = re.compile(
    r"(.*/)?[^/]*\.lock|(.*/)?([A-Z_]*_EDITMSG|FETCH_HEAD|MERGE_RR|NOTES_MERGE_\w+)|rr-cache/.*"
    r"|gc\.(log|pid)|info/refs|ADD_EDIT\.patch|.*/gpg_sign_opt|description|hooks/.*\.sample"
)
"""Files that git makes beside the state, of which nobody needs to hear that they are not kept."""
_MAX_FILES = 300_000
_MAX_REF = 4_096  # bytes of a file of a ref
_MAX_STATE = 512 << 20  # bytes of all that a run changed of the state
_ATTEMPTS = 3

Stamp = tuple[int, int, int, int, int]
Stamps = dict[str, Stamp]
Reader = Callable[[str], bytes]


class _NotPlain(Exception):
    """A repository that a stand-in cannot be made of."""


class GitStandIn:
    """Stand-in of the repository of *project*, in a folder of its own in *cache_folder*.

    One run at a time has it. It is gone with us.
    """

    def __init__(self, project: Path, cache_folder: Path) -> None:
        self._git = project / ".git"
        self._cache_folder = cache_folder
        self._lock = threading.Lock()
        self._outer: Path | None = None
        self._real: Stamps = {}
        self._config = b""
        self._own: Stamps | None = None  # None: it has to be filled anew

    def folder(self) -> Path | None:
        """Return the folder to show at `.git`; None where the repository is shown read-only."""
        try:
            if not self._is_plain():
                return None
            if self._outer is None:
                self._outer, lock_fd = _make_folder(self._cache_folder)
                weakref.finalize(self, _remove_folder, self._outer, lock_fd)
        except OSError:
            return None
        return self._outer / "git"

    @contextmanager
    def borrowed(self) -> Iterator[bool]:
        """Have it for a run, filled; yield whether that could be done."""
        if not self._lock.acquire(blocking=False):
            yield False
            return
        try:
            yield self._prepare()
        finally:
            self._lock.release()

    def take_over(self) -> list[Phrase]:
        """Take over what the run that is over did; return notes on what was not."""
        try:
            changed, foreign = self._changes()
            notes = [_foreign_note(foreign)] if foreign else []
            if changed is not None:
                self._own = None
                self._take_over(changed)
        except (StateRefused, ObjectsRefused) as refused:
            return [_refusal_note(refused.why)]
        except StateMoved as moved:
            why = phrase("{name} was changed by somebody else meanwhile", name=visible(moved.name))
            return [_refusal_note(why)]
        except StateLocked as locked:
            why = phrase("another git holds {name}", name=visible(locked.name))
            return [_refusal_note(why)]
        except (_NotPlain, ValueError):
            self._own = None
            return [_refusal_note(phrase("it left what git does not write"))]
        except OSError as error:
            self._own = None
            return [_refusal_note(phrase("the system says: {why}", why=error.strerror or "?"))]
        return notes

    def _is_plain(self) -> bool:
        """Return whether it is a repository of the usual kind, whole in the folder `.git`."""
        git = self._git
        if not (has_git() and git.is_dir() and not git.is_symlink()):
            return False
        if any(os.path.lexists(git / name) for name in _NOT_PLAIN):
            return False
        config = git / "config"
        is_file = config.is_file() and not config.is_symlink()
        return is_file and _EXTENSIONS.search(config.read_bytes()) is None

    def _prepare(self) -> bool:
        folder = self.folder()
        if folder is None:
            return False
        try:
            if folder.is_dir():
                folder.chmod(0o700)  # a program may have closed it
            for _ in range(_ATTEMPTS):
                real = _stamps(self._git, _is_copied)
                if self._own is not None and real == self._real and self._own == _stamps(folder):
                    return True
                self._own = None
                self._real = real
                self._fill(folder)
                if _stamps(self._git, _is_copied) == real:  # nobody wrote there meanwhile
                    self._own = _stamps(folder)
                    return True
        except (OSError, _NotPlain, UserError, TimedOut):
            self._own = None
        return False

    def _fill(self, folder: Path) -> None:
        has_modules = (self._git / "modules").is_dir()
        _empty(folder, {"modules"} if has_modules else set())
        names = ["refs/heads", "refs/tags", "objects/info", "objects/pack", "info", "logs"]
        for name in [*names, *(["modules"] if has_modules else [])]:
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name in self._real:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy(self._git / name, target)
        with (folder / "config").open("ab") as config:
            config.write(self._settings().encode("utf-8", "surrogateescape"))
        self._config = (folder / "config").read_bytes()
        (folder / _ALTERNATES).write_text(f"{OBJECTS_IN_SANDBOX}\n", encoding="utf-8")

    def _settings(self) -> str:
        """Return settings that hold in the stand-in alone: who commits, and nothing that waits."""
        lines = ["\n[gc]", "\tauto = 0", "[maintenance]", "\tauto = false", "[core]",
                 "\tfsmonitor = false", "\tuntrackedCache = false", "\tsplitIndex = false",
                 "[commit]", "\tgpgSign = false", "[tag]", "\tgpgSign = false"]  # fmt: skip
        person = self._isolated().common_dir.config
        if person.name and person.email:
            lines += ["[user]", f"\tname = {_quoted(person.name)}"]
            lines += [f"\temail = {_quoted(person.email)}"]
        return "\n".join([*lines, ""])

    def _isolated(self) -> IsolatedGit:
        git = isolated_git(self._git.parent)
        if git is None:
            raise _NotPlain
        return git

    def _changes(self) -> tuple[list[GitStateChange] | None, list[str]]:
        """Return what a run changed of the state, None for nothing at all, and what else it did."""
        assert self._outer is not None  # noqa: S101 - it was borrowed
        own = self._own or {}
        folder = self._outer / "git"
        after = _stamps(folder)
        if after == own:
            return None, []
        _check_sizes({name: stamp for name, stamp in after.items() if stamp != own.get(name)})
        names = after.keys() | own.keys()
        foreign = [
            name
            for name in names
            if after.get(name) != own.get(name)
            and not is_state_file(name)
            and (name == _ALTERNATES or not name.startswith("objects/"))
            and not _UNTOLD.fullmatch(name)
            and not (name == "config" and self._is_config_same(folder))
        ]
        before_state = GitState(_tokens(own), self._reader_before(folder, after))
        after_state = GitState(_tokens(after), lambda name: _read(folder, name))
        return changes_between(before_state, after_state), sorted(foreign)

    def _is_config_same(self, folder: Path) -> bool:
        """Return whether a run has only written the config anew, as some commands do."""
        return _read(folder, "config") == self._config

    def _reader_before(self, folder: Path, after: Stamps) -> Reader:
        """Return what reads a file of the state as it was before the run.

        What a run has changed is read from the repository, if nobody changed it there meanwhile.
        """
        own = self._own or {}

        def read(name: str) -> bytes:
            if after.get(name) == own[name]:
                return _read(folder, name)
            if _stamp(self._git / name) != self._real[name]:
                raise StateMoved(name)
            return _read(self._git, name)

        return read

    def _take_over(self, changes: list[GitStateChange]) -> None:
        assert self._outer is not None  # noqa: S101 - it was borrowed
        folder = self._outer / "git"
        named = check_changes(self._git, folder, changes)
        git = self._isolated()
        with tempfile.TemporaryDirectory(prefix="taken-", dir=self._outer) as scratch:
            quarantine = ObjectQuarantine(git, folder / "objects", Path(scratch))
            quarantine.take_over()
            ids = named.all
            kinds = dict(zip(ids, quarantine.kinds_of(ids), strict=True))
            wrong = [one for one, kind in kinds.items() if kind == "missing"]
            wrong += [one for one in named.commits if kinds.get(one) != "commit"]
            if wrong:
                why = phrase("it names an object that is not there: {name}", name=wrong[0])
                raise StateRefused(why)
            quarantine.check_tips(object_ids(changes))
        apply_changes(self._git, changes)


def _make_folder(cache_folder: Path) -> tuple[Path, int]:
    """Return a new folder, and its lock; those of processes that died are removed."""
    cache_folder.mkdir(parents=True, exist_ok=True)
    for path in cache_folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            _remove_folder(path, _locked(path))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=cache_folder))
    lock_fd = _locked(folder)
    (folder / "git").mkdir()
    return folder, lock_fd


def _remove_folder(folder: Path, lock_fd: int) -> None:
    remove_scratch(folder)
    os.close(lock_fd)


def _locked(folder: Path) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _is_copied(name: str) -> bool:
    return name in _COPIED or is_state_file(name)


def _stamps(folder: Path, is_wanted: Callable[[str], bool] | None = None) -> Stamps:
    """Return a stamp of each file below *folder*, of the repository only those that *is_wanted*.

    Raises `_NotPlain` where one is no plain file, `OSError` for what cannot be looked into.
    """
    found: Stamps = {}
    pending = [""]
    while pending:
        inner = pending.pop()
        with os.scandir(folder / inner) as entries:
            for entry in entries:
                name = f"{inner}/{entry.name}" if inner else entry.name
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    if is_wanted is None or may_hold_state(name) or name == "info":
                        pending.append(name)
                elif not stat.S_ISREG(status.st_mode):
                    if is_state_file(name) or may_hold_state(name):
                        raise _NotPlain
                elif is_wanted is None or is_wanted(name):
                    found[name] = _stamp_of(status)
        if len(found) + len(pending) > _MAX_FILES:
            raise _NotPlain
    return found


def _stamp_of(status: os.stat_result) -> Stamp:
    return (
        status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
    )  # fmt: skip


def _stamp(path: Path) -> Stamp | None:
    try:
        return _stamp_of(path.lstat())
    except OSError:
        return None


def _check_sizes(stamps: Stamps) -> None:
    """Refuse files of the state, changed by a run, that we would not want to read."""
    sizes = {name: stamp[2] for name, stamp in stamps.items() if is_state_file(name)}
    large = [name for name, size in sizes.items() if size > _MAX_REF and "refs/" in name
             and "logs/" not in name]  # fmt: skip
    if large or sum(sizes.values()) > _MAX_STATE:
        name = large[0] if large else max(sizes, key=sizes.__getitem__)
        raise StateRefused(phrase("{name} is too large", name=visible(name)))


def _tokens(stamps: Mapping[str, Stamp]) -> dict[str, str]:
    """Return what tells each file of the state from another, by name."""
    return {name: repr(stamp) for name, stamp in stamps.items() if is_state_file(name)}


def _read(folder: Path, name: str) -> bytes:
    content = read_state_file(folder, name)
    if content is None:
        raise StateMoved(name)
    return content


def _copy(source: Path, target: Path) -> None:
    """Copy a plain file; what is gone by now is left out."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(FileNotFoundError), os.fdopen(os.open(source, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise _NotPlain
        with target.open("xb") as out:
            while chunk := file.read(1 << 20):
                out.write(chunk)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))  # the index is judged by it


def _empty(folder: Path, kept: set[str]) -> None:
    """Remove what is in *folder* but for the folders *kept*. Raises `OSError` if any stays."""
    folder.chmod(0o700)
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in kept:
                remove_scratch(Path(entry.path))
        else:
            Path(entry.path).unlink()
    with os.scandir(folder) as entries:
        if left := [entry.path for entry in entries if entry.name not in kept]:
            raise FileExistsError(left[0])


def _quoted(value: str) -> str:
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _foreign_note(names: list[str]) -> Phrase:
    return phrase(
        "Not kept, for git obeys it or it is none of a repository's state: {names}",
        names=first_names([visible(f".git/{name}") for name in names]),
    )


def _refusal_note(why: Phrase) -> Phrase:
    return phrase(
        "What git did in this run was not kept: {why}. Branches, HEAD and the index are as before "
        "it; the files are as the run left them.",
        why=why,
    )
