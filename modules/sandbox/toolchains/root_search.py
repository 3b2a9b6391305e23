"""Search for the toolchains that a PATH and its variables lead to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path

from modules.sandbox.filesystem.folders import is_within
from modules.sandbox.toolchains.boundaries import Boundaries, is_reserved
from modules.sandbox.toolchains.credentials import CredentialScan, other_names
from modules.sandbox.toolchains.links import LinkRoute, route_to
from modules.sandbox.toolchains.managers import (
    FOLDER_VARIABLES,
    MANAGERS,
    VERSION_FILES,
    Manager,
    versions,
)
from modules.sandbox.toolchains.shown import SYSTEM_PATH, Toolchains
from utils.i18n import Phrase, phrase

_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")))
_MAX_FOLDERS = 64  # each is a mount, and so is what is covered
_MAX_COVERED = 64
_MAX_PROGRAMS = 4_000  # in one folder of PATH
_MAX_ENVIRONMENTS = 200
_INSTALLED = ("lib", "lib64", "libexec", "share", "jre", "include", "pyvenv.cfg")
"""Names beside `bin` that mark an installation."""
_PROJECTS = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "pom.xml", ".git")
"""Marks of a folder that somebody works in, and not of an installation."""


class _Shown(Enum):
    """Amount of a folder that is shown: all but credentials, its programs, or just all of it."""

    WHOLE = 1
    PROGRAMS = 2
    PUBLIC = 3


class ToolchainSearch:
    """One search, in the person's *environment*; *show_folders* are shown beside what it finds."""

    def __init__(
        self,
        environment: Mapping[str, str],
        show_folders: Sequence[Path],
        boundaries: Boundaries,
    ) -> None:
        self._environment = dict(environment)
        self._show_folders = show_folders
        self._boundaries = boundaries
        self._home = boundaries.homes[0]
        self._folders: dict[Path, _Shown] = {}
        self._links: dict[Path, str] = {}
        self._refused: dict[Path, Phrase] = {}
        self._scan = CredentialScan()
        self._managers: list[tuple[Manager, Path]] = []
        self._search_path: list[str] = []
        self._followed: set[Path] = set()
        self._variables: dict[str, str] = {}
        self._hidden: list[Path] = []

    def run(self) -> Toolchains:
        """Return what is to be shown."""
        self._managers = list(self._existing_managers())
        for text in self._environment.get("PATH", "").split(os.pathsep):
            if text.startswith("/"):
                self._add_path_folder(Path(text))
        for manager, root in self._managers:
            if self._is_used(manager):
                self._add_parts(manager, root)
        for folder in self._show_folders:
            self._add_shown(folder)
        if self._folders:
            self._add_version_files()
        return self._shown()

    @property
    def watched(self) -> list[Path]:
        """Folders and files that a change makes another search necessary for."""
        entries = self._environment.get("PATH", "").split(os.pathsep)
        own = [Path(entry) for entry in entries if entry.startswith("/")]
        own += [
            self._home / path
            for manager in MANAGERS
            if manager.is_always_shown
            for path in manager.defaults
        ]
        return [*own, *self._show_folders, *self._folders, *self._hidden, *self._scan.watched]

    # what leads to a toolchain

    def _existing_managers(self) -> Iterator[tuple[Manager, Path]]:
        for manager in MANAGERS:
            named = [self._environment.get(name, "") for name in manager.variables]
            paths = [path for path in named if path.startswith("/")] or manager.defaults
            for path in paths:
                if os.path.isdir(root := self._home / path):  # noqa: PTH112 - never raises
                    yield manager, root
                    break

    def _is_used(self, manager: Manager) -> bool:
        is_named = any(self._environment.get(name, "") for name in manager.variables)
        return manager.is_always_shown or is_named or any(map(self._program, manager.programs))

    def _program(self, name: str) -> bool:
        return any(os.access(Path(folder, name), os.X_OK) for folder in self._search_path)

    def _add_path_folder(self, folder: Path) -> None:
        route = route_to(folder)
        is_folder = route is not None and os.path.isdir(route.real)  # noqa: PTH112 - never raises
        if route is None or not is_folder or self._boundaries.is_ours(route):
            return
        if not _is_system(route.real):
            self._add_route(route, is_path_folder=True)
            if not self._is_shown(route.real):
                return
            self._follow_programs(route.real)
        self._search_path.append(str(folder if _is_system(route.real) else route.real))

    def _add_route(self, route: LinkRoute, *, is_path_folder: bool = False) -> None:
        """Show what *route* leads to: its toolchain if it is one's, else itself."""
        self._links |= dict(route.links)
        if self._is_shown(route.real) or _is_system(route.real):
            return
        for manager, root in self._managers:
            if is_within(route.real, Path(os.path.realpath(root))):
                self._add_parts(manager, root)
        if not self._is_shown(route.real) and (packages := _node_packages(route.real)):
            self._add(packages)
        folder = route.real if is_path_folder else route.real.parent
        if not self._is_shown(route.real) and (prefix := self._installation(folder)):
            self._add(prefix)
        if not self._is_shown(route.real):
            self._add(route.real, _Shown.PROGRAMS if is_path_folder else _Shown.WHOLE)

    def _installation(self, folder: Path) -> Path | None:
        """Return the installation whose programs *folder* has, None if it is none, or not only."""
        prefix = folder.parent
        if folder.name not in ("bin", "Scripts", "condabin") or self._boundaries.refusal(prefix):
            return None
        is_vendor = Path("/opt") in prefix.parents
        names = frozenset(os.path.basename(path) for path in _paths_in(prefix))  # noqa: PTH119
        if names.intersection(_PROJECTS) and not is_vendor:
            return None
        return prefix if is_vendor or names.intersection(_INSTALLED) else None

    def _follow_programs(self, folder: Path) -> None:
        """Show what the links in *folder* lead to, each with its toolchain."""
        if folder in self._followed:
            return
        self._followed.add(folder)
        for path in _links_in(folder):
            target = Path(os.path.normpath(folder / os.readlink(path)))  # noqa: PTH115
            if self._is_shown(target) or _is_system(target):
                continue
            route = route_to(path)
            if route and route.real.is_file() and not self._boundaries.is_ours(route):
                self._add_route(route)
                self._follow_environment(route.real.parent.parent)

    def _follow_environment(self, environment: Path) -> None:
        """Show the Python that a virtual environment is made of."""
        if os.path.isfile(environment / "pyvenv.cfg"):  # noqa: PTH113 - never raises
            self._follow_programs(environment / "bin")

    # what is shown

    def _add_parts(self, manager: Manager, root: Path) -> None:
        """Show the parts of *root* that a manager has there."""
        shown = _Shown.PUBLIC if manager.is_public else _Shown.WHOLE
        for path in (root / part for part in manager.parts):
            route = route_to(path)
            if route is None or self._boundaries.is_ours(route) or _is_system(route.real):
                continue
            self._links |= dict(route.links)
            if self._add(route.real, shown) and manager.exported:
                self._variables[manager.exported] = os.path.realpath(root)
            if manager.has_environments:
                for environment in _folders_in(route.real)[:_MAX_ENVIRONMENTS]:
                    self._follow_environment(environment)

    def _add_shown(self, folder: Path) -> None:
        """Show *folder* because the settings name it."""
        route = route_to(folder)
        if route is None:
            self._refused[folder] = phrase("it does not exist")
        elif self._boundaries.is_ours(route):
            self._refused[folder] = phrase("it contains the project")
        elif not _is_system(route.real):
            self._links |= dict(route.links)
            self._add(route.real)

    def _add_version_files(self) -> None:
        for path in (self._home / name for name in VERSION_FILES):
            is_file = os.path.isfile(path) and not os.path.islink(path)  # noqa: PTH113, PTH114
            if is_file and not self._scan.is_secret(path):
                self._add(Path(os.path.realpath(path)))

    def _add(self, real: Path, shown: _Shown = _Shown.WHOLE) -> bool:
        """Show *real* unless it must not be; return whether it is shown."""
        if self._is_shown(real):
            return True
        refusal = self._boundaries.refusal(real)
        if refusal is None and len(self._folders) >= _MAX_FOLDERS:
            refusal = phrase("there are too many folders to show")
        if refusal is None and real.is_file() and self._scan.is_secret(real):
            refusal = phrase("it contains a secret")
        if refusal:
            self._refused[real] = refusal
            return False
        self._folders[real] = shown
        return True

    def _is_shown(self, real: Path) -> bool:
        return any(
            is_within(real, folder)
            if shown is not _Shown.PROGRAMS
            else real in (folder, folder / real.name)
            for folder, shown in self._folders.items()
        )

    # the result

    def _shown(self) -> Toolchains:
        covered = self._covered()
        folders = tuple(
            folder
            for folder in sorted(self._folders)
            if not any(self._is_whole(above) for above in folder.parents)
        )
        covered += other_names(folders, [*covered, *self._boundaries.secret_files()])
        self._hidden = covered
        return Toolchains(
            folders,
            tuple(sorted(set(covered))),
            tuple(self._needed_links()),
            tuple(self._visible_search_path()),
            tuple(sorted(self._visible_variables().items())) if folders else (),
            tuple(sorted(self._refused.items(), key=lambda item: item[0])),
            self._home,
        )

    def _is_whole(self, folder: Path) -> bool:
        return self._folders.get(folder) in (_Shown.WHOLE, _Shown.PUBLIC)

    def _covered(self) -> list[Path]:
        """Return what is not shown of the folders; one with too much of that is not shown."""
        whole = [path for path, shown in self._folders.items() if shown is _Shown.WHOLE]
        found = list(self._scan.credentials_in(path for path in whole if path.is_dir()))
        for folder, shown in self._folders.items():
            if shown is _Shown.PROGRAMS:
                found += self._covered_beside_programs(folder)
        covered = {path for path in map(self._real_of, found) if path}
        for folder in list(self._folders):
            inside = [path for path in covered if folder in path.parents]
            if len(inside) > _MAX_COVERED:
                del self._folders[folder]
                self._refused[folder] = phrase("too many files in it would have to be hidden")
                covered.difference_update(inside)
        return sorted(covered)

    def _covered_beside_programs(self, folder: Path) -> Iterator[Path]:
        """Yield what in a folder of programs is none, or has a secret in it."""
        for path in map(Path, sorted(_paths_in(folder))):
            if path.is_symlink():
                continue
            if not path.is_file() or not os.access(path, os.X_OK) or self._scan.is_secret(path):
                yield path

    def _real_of(self, path: Path) -> Path | None:
        """Return *path*, or what it is a link to if that is shown."""
        if not path.is_symlink():
            return path
        real = Path(os.path.realpath(path))
        return real if real.exists() and self._is_shown(real) else None

    def _needed_links(self) -> Iterator[tuple[Path, str]]:
        """Yield the links that have to be made: where nothing is shown yet, and nothing will be."""
        real_home = Path(os.path.realpath(self._home))
        if real_home != self._home:
            for real in (path for path in self._folders if real_home in path.parents):
                self._links.setdefault(self._home / real.relative_to(real_home), str(real))
        needed = (*self._folders, *self._boundaries.homes, self._boundaries.project)
        for path, target in self._links.items():
            is_there = self._is_shown(path) or _is_system(path) or is_reserved(path)
            if not is_there and not any(is_within(one, path) for one in needed):
                yield path, target

    def _visible_search_path(self) -> Iterator[str]:
        folders = list(dict.fromkeys(self._search_path))
        if not {*folders} <= {*SYSTEM_PATH, *(f"{path[:-3]}sbin" for path in SYSTEM_PATH)}:
            yield from (path for path in folders if self._is_visible(Path(path)))

    def _visible_variables(self) -> dict[str, str]:
        exported = (manager.exported for manager in MANAGERS if manager.exported)
        named = {name: self._environment.get(name, "") for name in (*FOLDER_VARIABLES, *exported)}
        found = {name: os.path.realpath(path) for name, path in named.items() if path[:1] == "/"}
        return {
            name: path
            for name, path in (found | self._variables).items()
            if os.path.exists(path) and self._is_visible(Path(path), is_above=True)  # noqa: PTH110
        } | versions(self._environment)

    def _is_visible(self, real: Path, *, is_above: bool = False) -> bool:
        return (
            _is_system(real)
            or self._is_shown(real)
            or (is_above and any(real in folder.parents for folder in self._folders))
        )


def _node_packages(real: Path) -> Path | None:
    """Return the folder `node_modules` that *real* is installed in, with what it needs of others.

    None if it is in none. `npm install --global --prefix ~/.local` makes such a one.
    """
    above = [folder for folder in real.parents if folder.name == "node_modules"]
    return above[-1] if above else None


def _is_system(path: Path) -> bool:
    return any(is_within(path, folder) for folder in _SYSTEM)


def _paths_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries]
    except OSError:
        return []


def _links_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_symlink()][:_MAX_PROGRAMS]
    except OSError:
        return []


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
