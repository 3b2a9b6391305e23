"""Onefold's own code: all that this process and its next start load, Python included.

Where some of it lies in the project, nothing there may be changed by a program or a tool: what the
model writes to it would run outside of the sandbox. That goes for what is not there yet as well,
for a folder of PYTHONPATH may be made, and for links on the way, which could lead elsewhere.
"""

from __future__ import annotations

import os
import re
import site
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from utils.frozen import frozen
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible

SHIPPED = frozenset({
    *(".ci", ".env", ".git", ".venv", ".venv-dev", "config.py", "core", "data", "docs", "main.py"),
    *("modules", "prompts", "static", "templates", "tests", "tools", "utils"),
})  # fmt: skip
"""Parts of the checkout that no project may be or lie in; other folders in it are the person's."""

_LIBRARY_NAME = re.compile(r"site-packages|dist-packages|lib-dynload|python3\.\d+t?")
_MAX_LINKS = 40


@frozen
class OwnCode:
    """Parts of our code in a project, by paths in it: *paths*, of which none lies in another, and
    the *links* that lead there and lie in none of them. They may not be there yet.
    """

    paths: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @classmethod
    def find(cls, project: Path, root: Path, data: Path, more_paths: Iterable[str] = ()) -> Self:
        """Look for it in *project*; *root* is the checkout, *more_paths* is what else is loaded.

        Raises `UserError` for a project that is or lies in what is loaded.
        """
        resolver = _PathResolver()
        project_path = os.path.realpath(project)
        inside_project = set()
        for path in dict.fromkeys(_loaded_paths(str(root), str(data), more_paths)):
            real = resolver.resolve(path)
            if real == project_path or (
                _is_in(project_path, real) and _is_library(real, str(data))
            ):
                raise _refusal(project_path, real)
            if _is_in(real, project_path):
                inside_project.add(real)
        parts = os.path.relpath(project_path, os.path.realpath(root)).split("/")
        if parts[0] in SHIPPED:
            raise _refusal(project_path, str(root))
        paths = [
            path
            for path in inside_project
            if not any(_is_in(path, other) for other in inside_project)
        ]
        links = [
            link
            for link in resolver.links
            if _is_in(link, project_path) and not any(_is_in(link, path) for path in paths)
        ]
        start = len(project_path.rstrip("/")) + 1
        return cls(
            tuple(sorted(path[start:] for path in paths)),
            tuple(sorted(link[start:] for link in links)),
        )

    @property
    def is_present(self) -> bool:
        """Whether anything of ours lies there."""
        return bool(self.paths or self.links)

    def contains(self, path: str) -> bool:
        """Return whether *path* is one of ours or in one, by its name."""
        return path in self.links or any(f"{path}/".startswith(f"{own}/") for own in self.paths)

    def notice(self) -> Phrase | None:
        """Return a sentence on our code in the project; None if there is none."""
        if not self.is_present:
            return None
        return phrase(
            "Onefold itself is loaded from {paths} in this project: that can be read, but not "
            "changed, by it or by what it runs.",
            paths=self.shown_paths(),
        )

    def shown_paths(self) -> str:
        """Return the paths for people."""
        return ", ".join(map(visible, (*self.paths, *self.links)))

    def overlaps(self, paths: Iterable[str]) -> bool:
        """Return whether one of *paths* is ours, is in it or holds it, by its name."""
        own_paths = (*self.paths, *self.links)
        return any(
            self.contains(path) or any(own.startswith(f"{path}/") for own in own_paths)
            for path in paths
        )


def break_hard_links(root: Path) -> None:
    """Give each file at or below *root* that has other names (hard links) a copy of its own.

    Through another name it could be changed. What is in the store of a repository is left as it
    is: git knows it by its digest. Raises `OSError`.
    """
    for current, folders, names in os.walk(root):
        if os.path.basename(current) == ".git":  # noqa: PTH119
            folders[:] = [name for name in folders if name != "objects"]
        for path in (Path(current, name) for name in names):
            with suppress(FileNotFoundError):  # gone since the folder was listed
                status = path.lstat()
                if (
                    stat.S_ISREG(status.st_mode)
                    and status.st_nlink > 1
                    and _is_writable_by_user(path, status)
                ):
                    _copy_in_place(path, status)


def linked_libraries() -> Iterator[Path]:
    """Yield the folders of packages that share files with the cache of an installer (hard links).

    uv installs so; which project holds the cache cannot be told from here.
    """
    for folder in map(Path, sys.path):
        if any(file.stat().st_nlink > 1 for file in folder.glob("*.dist-info/METADATA")):
            yield folder


def _is_writable_by_user(path: Path, status: os.stat_result) -> bool:
    """Return whether a program of this person could write to the file."""
    return status.st_uid == os.geteuid() or os.access(path, os.W_OK)


def _copy_in_place(path: Path, status: os.stat_result) -> None:
    import shutil

    copy = path.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        shutil.copy2(path, copy)
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(copy, status.st_uid, status.st_gid)
        copy.replace(path)
    finally:
        copy.unlink(missing_ok=True)


def _refusal(project: str, loaded: str) -> UserError:
    return UserError(
        phrase(
            "{path} cannot be the project: Onefold itself is running from {loaded} and never "
            "changes its own code. Choose another folder, open another copy, or start "
            "Onefold with another Python or without PYTHONPATH (python3 -E).",
            path=visible(project),
            loaded=visible(loaded),
        )
    )


def _loaded_paths(root: str, data: str, more_paths: Iterable[str]) -> Iterator[str]:
    """Yield all files and folders that are loaded, there or not, as absolute paths."""
    given = (*more_paths, *sys.path, sys.executable, sys.argv[0], sys.pycache_prefix or "")
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    paths = [
        path if path.startswith("/") else os.path.abspath(path)  # noqa: PTH100
        for path in (*given, *prefixes)
        if path
    ]
    yield from (root, data, *paths, site.getusersitepackages())
    for prefix, versions, _ in {path.partition("/versions/") for path in paths}:
        if versions and os.path.isdir(f"{prefix}/shims"):  # noqa: PTH112
            yield prefix  # pyenv: what it starts chooses the Python
    for folder in (*paths, site.getusersitepackages()):
        if _LIBRARY_NAME.fullmatch(os.path.basename(folder)):  # noqa: PTH119
            yield from _pth_folders(folder)
    for finder in sys.meta_path:  # packages that setuptools has installed to be edited
        mapping = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", None)
        yield from mapping.values() if isinstance(mapping, dict) else ()
    git = f"{root}/.git"
    yield git
    if folder := _gitdir_named_in(git, "gitdir: "):  # a worktree's, whose repository is elsewhere
        yield folder
        yield _gitdir_named_in(f"{folder}/commondir") or folder


def _pth_folders(folder: str) -> Iterator[str]:
    """Yield what the `.pth` files in *folder* add to where modules are looked for."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".pth")]  # noqa: PTH208
    except OSError:
        return
    for name in names:
        with suppress(OSError):
            for line in Path(folder, name).read_text("utf-8", "surrogateescape").splitlines():
                if line.strip() and not line.startswith(("#", "import ", "import\t")):
                    yield os.path.normpath(os.path.join(folder, line.rstrip()))  # noqa: PTH118


def _gitdir_named_in(path: str, opening: str = "") -> str:
    """Return the folder that git's file *path* names after *opening*; "" if there is none."""
    if not os.path.isfile(path):  # noqa: PTH113
        return ""
    text = Path(path).read_text("utf-8", "surrogateescape").rstrip("\n")
    named = os.path.join(os.path.dirname(path), text.removeprefix(opening))  # noqa: PTH118, PTH120
    return os.path.normpath(named)


def _is_library(real: str, data: str) -> bool:
    """Return whether all that is in the folder *real* may be loaded, whatever its name."""
    is_library = _LIBRARY_NAME.fullmatch(os.path.basename(real)) is not None  # noqa: PTH119
    return is_library or real == data or os.path.isfile(f"{real}/pyvenv.cfg")  # noqa: PTH113


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/")


class _PathResolver:
    """Follows paths by their names, there or not; *links* are those it went through."""

    def __init__(self) -> None:
        self.links: set[str] = set()
        self._targets: dict[str, str | None] = {}

    def resolve(self, path: str) -> str:
        remaining = path.split("/")[::-1]
        resolved, followed = "", 0
        while remaining:
            name = remaining.pop()
            if name == "..":
                resolved = resolved.rpartition("/")[0]
            if name in ("", ".", ".."):
                continue
            target = self._target(f"{resolved}/{name}")
            if target is None or followed == _MAX_LINKS:  # those are a circle
                resolved = f"{resolved}/{name}"
                continue
            followed += 1
            self.links.add(f"{resolved}/{name}")
            resolved = "" if target.startswith("/") else resolved
            remaining += target.split("/")[::-1]
        return resolved or "/"

    def _target(self, path: str) -> str | None:
        if path not in self._targets:
            try:
                self._targets[path] = os.readlink(path)  # noqa: PTH115
            except OSError:  # no link, or not there
                self._targets[path] = None
        return self._targets[path]
