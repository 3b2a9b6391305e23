"""Folders for tests: random trees, their whole state, and random changes."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from modules.checkpoints.checkpoints import Checkpoints

FolderState = dict[str, tuple[object, ...]]


def folder_state(root: Path) -> FolderState:
    """Return everything that an undo must restore, by path: mode, mtime, content or target."""
    state: FolderState = {}
    for path in [root, *root.rglob("*")]:
        status = path.lstat()
        content: object = None
        if stat.S_ISLNK(status.st_mode):
            content = path.readlink()
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        state[str(path.relative_to(root))] = (status.st_mode, status.st_mtime_ns, content)
    return state


@contextmanager
def checkpoints(
    root: Path, store: Path, *, file_cap: int = 10_000_000, total_cap: int = 1_000_000_000
) -> Iterator[Checkpoints]:
    store_under_test = Checkpoints(root, store, file_cap=file_cap, total_cap=total_cap, keep_days=7)
    try:
        yield store_under_test
    finally:
        store_under_test.close()


def make_tree(root: Path, files: int, *, seed: int = 1, age: int = 1000) -> None:
    """Make a tree of *files* files whose times lie *age* seconds back and more."""
    rng = random.Random(seed)
    words = [f"word{number}" for number in range(200)]
    for number in range(files):
        top = rng.choice(["src", "a", "docs", ".hidden"])
        folder = root / top / f"part{number // 40}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"file{number}{rng.choice(['.py', '.md', '.txt', ''])}"
        path.write_text(" ".join(rng.choices(words, k=rng.randint(0, 120))) + "\n")
        path.chmod(rng.choice([0o644, 0o600, 0o755, 0o444]))
        if number % 50 == 0:
            (folder / f"link{number}").symlink_to(f"../{path.name}")
            (folder / f"empty{number}").mkdir()
    for path in sorted(root.rglob("*"), reverse=True):
        moment = 1_600_000_000_123_456_789 - rng.randint(0, age) * 1_000_000_007
        os.utime(path, ns=(moment, moment), follow_symlinks=False)


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    """Let an ordinary user write to *path* as root can, whatever its mode."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    if mode is not None:
        path.chmod(mode | stat.S_IWUSR)
    yield
    if mode is not None:
        path.chmod(mode)


class RandomEditor:
    """Makes random changes in a folder, always the same ones for the same seed."""

    def __init__(self, root: Path, seed: int) -> None:
        self._root = root
        self._random = random.Random(seed)
        self._count = 0

    def act(self, times: int) -> None:
        for _ in range(times):
            self._count += 1
            self._random.choice(self._actions())()

    def _actions(self) -> list[Callable[[], None]]:
        return [
            self.write, self.write, self.append, self.delete, self.rename, self.rename,
            self.make_folder, self.remove_folder, self.chmod, self.touch, self.link, self.retype,
        ]  # fmt: skip

    def _files(self) -> list[Path]:
        return sorted(p for p in self._root.rglob("*") if p.is_symlink() or not p.is_dir())

    def _folders(self) -> list[Path]:
        inner = [p for p in self._root.rglob("*") if p.is_dir() and not p.is_symlink()]
        return [self._root, *sorted(inner)]

    def _new_path(self) -> Path:
        return self._random.choice(self._folders()) / f"n{self._random.randint(0, 15)}"

    def _file(self) -> Path | None:
        files = self._files()
        return self._random.choice(files) if files else None

    def write(self) -> None:
        path = self._new_path()
        if not path.is_dir() and not path.is_symlink():
            with _writable(path):
                path.write_bytes(self._random.randbytes(self._random.choice([0, 3, 3, 700])))

    def append(self) -> None:
        if (path := self._file()) and path.is_file() and not path.is_symlink():
            with _writable(path), path.open("ab") as file:
                file.write(b"more\n")

    def delete(self) -> None:
        if path := self._file():
            path.unlink()

    def rename(self) -> None:
        things = [*self._files(), *self._folders()[1:]]
        target = self._new_path()
        if things and not os.path.lexists(target):
            source = self._random.choice(things)
            if not str(target).startswith(str(source)):
                source.rename(target)

    def make_folder(self) -> None:
        path = self._new_path()
        if not os.path.lexists(path):
            path.mkdir()

    def remove_folder(self) -> None:
        import shutil

        folders = self._folders()[1:]
        if folders and self._random.random() < 0.4:
            shutil.rmtree(self._random.choice(folders))

    def chmod(self) -> None:
        path = self._random.choice(self._folders() + self._files())
        if not path.is_symlink():
            path.chmod(self._random.choice([0o700, 0o755, 0o750]))

    def touch(self) -> None:
        if path := self._file():
            moment = 1_500_000_000_000_000_000 + self._random.randint(0, 10**15)
            os.utime(path, ns=(moment, moment), follow_symlinks=False)

    def link(self) -> None:
        path = self._new_path()
        if not os.path.lexists(path):
            if (other := self._file()) and not other.is_symlink() and self._random.random() < 0.5:
                os.link(other, path)
            else:
                path.symlink_to(self._random.choice(["n1", "../n2", "nowhere"]))

    def retype(self) -> None:
        if path := self._file():
            path.unlink()
            path.mkdir()
            (path / "inner").write_text("inner\n")
