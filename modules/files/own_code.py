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
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible

SHIPPED = frozenset({
    *(".ci", ".env", ".git", ".venv", ".venv-dev", "config.py", "core", "data", "docs", "main.py"),
    *("modules", "prompts", "static", "templates", "tests", "tools", "utils"),
})  # fmt: skip
"""What of the checkout no project may be or lie in; another folder in it is the person's own."""

_LIBRARY = re.compile(r"site-packages|dist-packages|lib-dynload|python3\.\d+t?")
_MOST_LINKS = 40


@dataclass(frozen=True, slots=True)
class OwnCode:
    """What of ours lies in a project, by paths in it: *paths*, of which none lies in another, and
    the *links* that lead there and lie in none of them. They may not be there yet.
    """

    paths: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @classmethod
    def of(cls, project: Path, root: Path, data: Path, named: Iterable[str] = ()) -> Self:
        """Look for it in *project*; *root* is the checkout, *named* is what else is loaded.

        Raises `UserError` for a project that is or lies in what is loaded.
        """
        tracer = _Tracer()
        place = os.path.realpath(project)
        found = set()
        for path in dict.fromkeys(_loaded(str(root), str(data), named)):
            real = tracer.real(path)
            if real == place or (_is_in(place, real) and _is_whole(real, str(data))):
                raise _refused(place, real)
            if _is_in(real, place):
                found.add(real)
        inside = os.path.relpath(place, os.path.realpath(root)).split("/")
        if inside[0] in SHIPPED:
            raise _refused(place, str(root))
        paths = [path for path in found if not any(_is_in(path, other) for other in found)]
        links = [
            link
            for link in tracer.links
            if _is_in(link, place) and not any(_is_in(link, path) for path in paths)
        ]
        start = len(place) + 1
        return cls(
            tuple(sorted(path[start:] for path in paths)),
            tuple(sorted(link[start:] for link in links)),
        )

    @property
    def is_some(self) -> bool:
        """Whether anything of ours lies there."""
        return bool(self.paths or self.links)

    def holds(self, path: str) -> bool:
        """Return whether *path* is one of ours or in one, by its name."""
        return path in self.links or any(f"{path}/".startswith(f"{own}/") for own in self.paths)

    def said(self) -> Phrase | None:
        """Say what of ours lies in the project; None if nothing does."""
        if not self.is_some:
            return None
        return phrase(
            "Onefold itself is loaded from {paths} in this project: that can be read, but not "
            "changed, by it or by what it runs.",
            paths=self.named(),
        )

    def named(self) -> str:
        """Return the paths as they are shown."""
        return ", ".join(map(visible, (*self.paths, *self.links)))

    def is_touched(self, paths: Iterable[str]) -> bool:
        """Return whether one of *paths* is ours, is in it or holds it, by its name."""
        ours = (*self.paths, *self.links)
        return any(
            self.holds(path) or any(own.startswith(f"{path}/") for own in ours) for path in paths
        )


def part_from_links(place: Path) -> None:
    """Give each file at or below *place* that has other names (hard links) a copy of its own.

    Through another name it could be changed. What is in the store of a repository is left as it
    is: git knows it by its digest. Raises `OSError`.
    """
    for folder, folders, names in os.walk(place):
        if os.path.basename(folder) == ".git":  # noqa: PTH119
            folders[:] = [name for name in folders if name != "objects"]
        for path in (Path(folder, name) for name in names):
            with suppress(FileNotFoundError):  # gone since the folder was listed
                found = path.lstat()
                if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 and _is_ours(path, found):
                    _copy_in_place(path, found)


def _is_ours(path: Path, found: os.stat_result) -> bool:
    """Return whether a program of this person could write to the file."""
    return found.st_uid == os.geteuid() or os.access(path, os.W_OK)


def _copy_in_place(path: Path, found: os.stat_result) -> None:
    import shutil

    copy = path.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        shutil.copy2(path, copy)
        if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(copy, found.st_uid, found.st_gid)
        copy.replace(path)
    finally:
        copy.unlink(missing_ok=True)


def _refused(project: str, loaded: str) -> UserError:
    return UserError(
        phrase(
            "{path} cannot be the project: Onefold itself is loaded from {loaded}, and never "
            "changes what it is loaded from. Choose another folder, open another copy of it, or "
            "start it with another Python, or without PYTHONPATH (python3 -E).",
            path=visible(project),
            loaded=visible(loaded),
        )
    )


def _loaded(root: str, data: str, named: Iterable[str]) -> Iterator[str]:
    """Yield all files and folders that are loaded, there or not, as absolute paths."""
    given = (*named, *sys.path, sys.executable, sys.argv[0], sys.pycache_prefix or "")
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    paths = [
        path if path.startswith("/") else os.path.abspath(path)  # noqa: PTH100
        for path in (*given, *prefixes)
        if path
    ]
    yield from (root, data, *paths, site.getusersitepackages())
    for above, versions, _ in {path.partition("/versions/") for path in paths}:
        if versions and os.path.isdir(f"{above}/shims"):  # noqa: PTH112
            yield above  # pyenv: what it starts chooses the Python
    for folder in (*paths, site.getusersitepackages()):
        if _LIBRARY.fullmatch(os.path.basename(folder)):  # noqa: PTH119
            yield from _added_to(folder)
    for finder in sys.meta_path:  # packages that setuptools has installed to be edited
        mapping = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", None)
        yield from mapping.values() if isinstance(mapping, dict) else ()
    git = f"{root}/.git"
    yield git
    if folder := _named_in(git, "gitdir: "):  # a worktree's, whose repository is elsewhere
        yield folder
        yield _named_in(f"{folder}/commondir") or folder


def _added_to(folder: str) -> Iterator[str]:
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


def _named_in(path: str, opening: str = "") -> str:
    """Return the folder that git's file *path* names after *opening*; "" if there is none."""
    if not os.path.isfile(path):  # noqa: PTH113
        return ""
    text = Path(path).read_text("utf-8", "surrogateescape").rstrip("\n")
    named = os.path.join(os.path.dirname(path), text.removeprefix(opening))  # noqa: PTH118, PTH120
    return os.path.normpath(named)


def _is_whole(real: str, data: str) -> bool:
    """Return whether all that is in the folder *real* may be loaded, whatever its name."""
    is_library = _LIBRARY.fullmatch(os.path.basename(real)) is not None  # noqa: PTH119
    return is_library or real == data or os.path.isfile(f"{real}/pyvenv.cfg")  # noqa: PTH113


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/")


class _Tracer:
    """Follows paths by their names, there or not; *links* are those it went through."""

    def __init__(self) -> None:
        self.links: set[str] = set()
        self._targets: dict[str, str | None] = {}

    def real(self, path: str) -> str:
        ahead = path.split("/")[::-1]
        here, followed = "", 0
        while ahead:
            name = ahead.pop()
            if name == "..":
                here = here.rpartition("/")[0]
            if name in ("", ".", ".."):
                continue
            target = self._target(f"{here}/{name}")
            if target is None or followed == _MOST_LINKS:  # those are a circle
                here = f"{here}/{name}"
                continue
            followed += 1
            self.links.add(f"{here}/{name}")
            here = "" if target.startswith("/") else here
            ahead += target.split("/")[::-1]
        return here or "/"

    def _target(self, path: str) -> str | None:
        if path not in self._targets:
            try:
                self._targets[path] = os.readlink(path)  # noqa: PTH115
            except OSError:  # no link, or not there
                self._targets[path] = None
        return self._targets[path]
