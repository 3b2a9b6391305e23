"""Mount plan: what a program sees of the machine, decided for each call before any mount."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from modules.files.git.git_guard import repository_paths
from modules.files.own_code import OwnCode, break_hard_links, linked_libraries
from modules.sandbox.filesystem.devices import DeviceNodes
from modules.sandbox.filesystem.etc import PreparedEtc, account_home
from modules.sandbox.filesystem.folders import is_within, real_path
from modules.sandbox.filesystem.interpreter import Interpreter, find_interpreter
from modules.sandbox.filesystem.mount_points import MountPoints
from modules.sandbox.filesystem.replaced_files import ReplacedFiles
from modules.sandbox.filesystem.unix_sockets import sockets_in
from modules.sandbox.home.home_variables import HOME_IN_SANDBOX
from modules.sandbox.network.known_registries import KnownRegistries
from modules.sandbox.network.proxy import Proxy
from modules.sandbox.network.variables import (
    OFFLINE_VARIABLES,
    TRUST_VARIABLES,
    place_of_settings,
)
from modules.sandbox.toolchains.boundaries import Boundaries, is_in_shared_memory
from modules.sandbox.toolchains.finder import ToolchainFinder
from modules.sandbox.toolchains.shown import Toolchains
from modules.sandbox.types import CERTIFICATES_PATH, JAVA_CERTIFICATES_PATH, Network
from utils.i18n import UserError, phrase
from utils.text.clean import visible

_SYSTEM_FOLDERS = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
)
"""A project cannot lie in these: they are not the machine's own in a sandbox."""
_NEEDED_FOLDERS = ("/usr", "/tmp", "/var/tmp", *_SYSTEM_FOLDERS)  # noqa: S108 - named, not written to
_DEV_NULL = Path("/dev/null")
_MAX_SIBLINGS = 1_000  # each is a mount, and bubblewrap takes 9,000 arguments


@dataclass(frozen=True, slots=True)
class MountPlan:
    """*repository* is shown read-only; *hidden* are paths with an empty folder over them, those
    of them that do not exist being *mount_points* (names in the project).
    """

    project: Path
    etc: Path
    interpreter: Interpreter | None
    repository: tuple[Path, ...]
    hidden: tuple[Path, ...]
    mount_points: tuple[str, ...]
    replaced: tuple[tuple[Path, Path], ...] = ()
    """Files of the project, and what is shown read-only in the place of each."""
    network: Path | None = None
    """The socket of the proxy, where there is a way to the network."""
    variables: tuple[tuple[str, str], ...] = ()
    """Variables added to the environment."""
    exposed: tuple[tuple[Path, Path], ...] = ()
    """Other paths exposed read-only, and where."""
    devices: tuple[Path, ...] = ()
    """Device nodes to show in /dev in the place of the machine's."""
    own_code: tuple[Path, ...] = ()
    """Paths that Onefold itself is loaded from, read-only."""
    protected_links: tuple[Path, ...] = ()
    """Links on the way there, and where no name can be kept free what is missing of it: what keeps
    these is that nothing can change in the folders they are in.
    """
    siblings: tuple[Path, ...] = ()
    """Other entries of these folders, writable."""
    home: Path | None = None
    """The folder that is kept between calls as the home of programs; None for an empty one."""
    toolchains: Toolchains = Toolchains()
    """The person's own toolchains, read-only."""
    cover: Path | None = None
    """An empty file, to show in the place of what `toolchains` covers."""
    git_stand_in: Path | None = None
    """Folder to show, writable, in the place of the repository, also where there is none."""
    git_place: Path | None = None
    """That place: the project's `.git`, or what that leads to."""
    git_command: Path | None = None
    """Folder of a command by which programs find that folder, where nothing can be mounted."""
    git_settings: str = ""
    """Settings that git has for programs below all others, where they write to the repository."""
    git_rules: tuple[tuple[str, bytes], ...] = ()
    """The contents of files that more of them name, by the setting."""
    git_hooks: Path | None = None
    """Hooks to show in that folder."""
    git_modules: tuple[str, ...] = ()
    """The folders in it of the repositories of submodules, of some of which it has stand-ins."""
    git_lfs: Path | None = None
    """The folder of the contents of git-lfs, to show beside the objects."""
    git_covered: tuple[tuple[Path, str], ...] = ()
    """Files to show in the place of others where the objects are, and those."""
    git_read_only: tuple[Path, ...] = ()
    """Those of which it has none."""
    kept_repositories: tuple[Path, ...] = ()
    """What a program without mounts may only read, there or not: each a `.git`."""

    @property
    def read_only_folders(self) -> tuple[Path, ...]:
        """Folders in which nothing can be made, moved or removed, to protect `protected_links`."""
        return tuple(sorted({path.parent for path in self.protected_links}))

    @property
    def shown_prefix(self) -> Path | None:
        """The installation of the interpreter, if it is not shown as one of the toolchains."""
        prefix = self.interpreter.prefix if self.interpreter else None
        return None if prefix is None or self.toolchains.holds(prefix) else prefix

    @property
    def inner_repositories(self) -> tuple[Path, ...]:
        """Return the repositories inside the project, and the folders that lead to them."""
        own = self.project / ".git"
        inner = [one for one in self.repository if self.project in one.parents and one != own]
        return (*self.leading_to(inner), *inner)

    def leading_to(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Return the folders between the project and *paths*, from above downwards."""
        folders = {
            folder for path in paths for folder in path.parents if self.project in folder.parents
        }
        return tuple(sorted(folders))


class MountPlanner:
    """Planner of a project's mounts. Raises `UserError` for a folder that cannot be confined."""

    def __init__(
        self,
        project: Path,
        hidden: Sequence[Path],
        cache_folder: Path,
        replacements: Callable[[], Mapping[Path, str]] = dict,
        own_code: OwnCode | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        show_folders: Sequence[Path] = (),
    ) -> None:
        """*replacements* are the texts to be read in place of some files of the project.

        *environment* is the person's, whose toolchains are shown, and so are *show_folders*.
        """
        self._own_code = own_code or OwnCode()
        self._replacements = replacements
        self._replaced_files = ReplacedFiles(cache_folder)
        self._project = project.resolve()
        self._hidden = tuple(path.resolve() for path in hidden)
        self._home = _home()
        self._etc = PreparedEtc(cache_folder, HOME_IN_SANDBOX)
        self._devices = DeviceNodes(cache_folder)
        self.mount_points = MountPoints(self._project, cache_folder)
        self._registries = KnownRegistries(self._project, cache_folder)
        self._protected: tuple[Path, ...] = ()
        self._is_checked = False
        homes = (_home(), _home().resolve(), account_home(), account_home().resolve())
        self._toolchains = ToolchainFinder(
            environment or {},
            show_folders,
            Boundaries(self._project, tuple(dict.fromkeys(homes)), self._hidden),
        )

    def plan(self, *, with_mounts: bool = True) -> MountPlan:
        """Return the plan for now; without mounts, no name is kept free in the project."""
        try:
            return self._plan(with_mounts)
        except PermissionError as error:
            raise UserError(
                phrase(
                    "Programs cannot run here: {path} is locked. Give yourself the right to read "
                    "it (chmod u+rwx).",
                    path=str(error.filename or self._project),
                )
            ) from error

    def _plan(self, with_mounts: bool) -> MountPlan:
        project = self._project
        self._check()
        interpreter = self.interpreter()
        mount_points = self._needed_mount_points() if with_mounts else ()
        exposed = [Path("/usr"), project]
        if interpreter and interpreter.prefix:
            exposed.append(interpreter.prefix)
        hidden = [path for path in self._hidden if path.is_dir() and _is_below_any(path, exposed)]
        hidden = [path for path in hidden if not _is_below_any(path, hidden)]
        toolchains = self._toolchains.find()
        own_paths = [project / path for path in self._own_code.paths]
        protected_links = [project / path for path in self._own_code.links]
        if not with_mounts:
            protected_links += [path for path in own_paths if not path.exists()]
        plan = MountPlan(
            project,
            self._etc.folder(),
            interpreter,
            (
                *(() if ".git" in mount_points else repository_paths(project)),
                *self._existing_protected(),
            ),
            tuple(dict.fromkeys((*hidden, *(project / name for name in mount_points)))),
            mount_points,
            (*self._replaced(), *((path, _DEV_NULL) for path in sockets_in(project))),
            devices=self._devices.nodes(),
            own_code=tuple(path for path in own_paths if path.exists()),
            protected_links=tuple(protected_links),
            siblings=_siblings(protected_links) if with_mounts else (),
            toolchains=toolchains,
            cover=self._replaced_files.file_with("") if toolchains.covered else None,
        )
        return self._without_network(plan) if with_mounts else plan

    def protect(self, folders: Iterable[str]) -> None:
        """Show *folders* of the project read-only from now on, as long as they are there."""
        self._protected = tuple(self._project / folder for folder in folders)

    def _existing_protected(self) -> Iterator[Path]:
        """Yield the protected paths that exist. Raises `PermissionError` where none can tell."""
        return (path for path in self._protected if path.is_dir() and real_path(path) == path)

    def with_network(self, plan: MountPlan, network: Network, proxy: Proxy) -> MountPlan:
        """Return *plan* with the way to *network* through *proxy*."""
        folders = [path for path in network.folders if self._may_expose(path)]
        exposed = [(path, path) for path in folders]
        variables = dict(network.variables)
        if proxy.authority:
            exposed.append((proxy.authority.bundle, CERTIFICATES_PATH))
            exposed.append((proxy.authority.java_bundle, JAVA_CERTIFICATES_PATH))
            variables = {**TRUST_VARIABLES, **variables}
        elif network.certificates:
            exposed.append((network.certificates, CERTIFICATES_PATH))
        self._registries.keep(network)
        files, leading = self._settings_files(network.files)
        exposed += files
        variables = {**leading, **variables}
        return replace(
            plan, network=proxy.path, variables=tuple(variables.items()), exposed=tuple(exposed)
        )

    def _without_network(self, plan: MountPlan) -> MountPlan:
        """Return *plan* with what finds again what programs read when they had the network."""
        told = self._registries.told()
        files, leading = self._settings_files(told.files)
        switches = {  # one variable may both say that there is no network and lead to a file
            name: f"{OFFLINE_VARIABLES[name]} {value}" if name in OFFLINE_VARIABLES else value
            for name, value in leading.items()
        }
        return replace(plan, variables=(*told.variables.items(), *switches.items()), exposed=files)

    def _settings_files(
        self, files: Mapping[str, str]
    ) -> tuple[tuple[tuple[Path, Path], ...], Mapping[str, str]]:
        """Return the places of *files*, texts by their names in a home, and what leads to them."""
        places: list[tuple[Path, Path]] = []
        variables: dict[str, str] = {}
        for name, text in files.items():
            place, leading = place_of_settings(name)
            places.append((self._replaced_files.file_with(text), place))
            variables |= leading
        return tuple(places), variables

    def _may_expose(self, path: Path) -> bool:
        """Return whether *path* is neither seen already nor holds what must not be seen."""
        real = path.resolve()
        if real != path or any(
            is_within(real, Path(already_exposed)) for already_exposed in ("/usr", self._project)
        ):
            return False
        if len(real.parts) < 3 or _is_in_system_folder(real):
            return False
        never_exposed = (
            self._home.resolve(),
            account_home().resolve(),
            self._project,
            *self._hidden,
        )
        return not any(is_within(one, real) for one in never_exposed)

    def shows(self, folder: Path) -> bool:
        """Return whether programs see the real *folder*, and cannot write to it."""
        protected = any(is_within(folder, path) for path in self._existing_protected())
        return protected or self._toolchains.find().holds(folder)

    def toolchains(self) -> Toolchains:
        """Return the person's toolchains that programs see."""
        return self._toolchains.find()

    def interpreter(self) -> Interpreter | None:
        return find_interpreter(self._project, self._home, self._hidden)

    def _replaced(self) -> Iterator[tuple[Path, Path]]:
        for path, text in self._replacements().items():
            yield (
                self._project / path.relative_to(self._project),
                self._replaced_files.file_with(text),
            )

    def _needed_mount_points(self) -> tuple[str, ...]:
        """Return the names in the project that are to stay free, `.git` and what is hidden."""
        if not os.access(self._project, os.W_OK):
            return ()  # nobody can make them, and nothing can be mounted
        hidden_names = [path.name for path in self._hidden if path.parent == self._project]
        # `dirname` here: no `Path` is made of so many
        read_only = {os.path.dirname(link) for link in self._own_code.links}  # noqa: PTH120
        names = (".git", *hidden_names, *self._missing_own_code())
        return self.mount_points.missing(
            [name for name in names if os.path.dirname(name) not in read_only]  # noqa: PTH120
        )

    def _missing_own_code(self) -> Iterator[str]:
        """Yield the names to keep free so that nobody makes what we would load."""
        for path in self._own_code.paths:
            ends = [end for end, letter in enumerate(f"{path}/") if letter == "/"]
            yield from self.mount_points.missing([path[:end] for end in ends])[:1]

    def _check(self) -> None:
        project = self._project
        if not project.is_dir():
            raise UserError(phrase("The project folder {path} is missing.", path=str(project)))
        if not self._is_checked:
            self._check_place()
            self._break_hard_links()
            self._is_checked = True

    def _break_hard_links(self) -> None:
        """Give our own code no other name (hard link) by which a program could change it."""
        own_paths = map(self._project.joinpath, self._own_code.paths)
        for path in chain(own_paths, linked_libraries()):
            if path not in self._hidden:
                try:
                    break_hard_links(path)
                except OSError as error:
                    raise UserError(
                        phrase(
                            "Programs cannot run here: {path}, from which Onefold is loaded, has "
                            "another name too (a hard link), and cannot be given a copy of its "
                            "own: {why}.",
                            path=visible(str(error.filename or path)),
                            why=error.strerror or str(error),
                        )
                    ) from error

    def _check_place(self) -> None:
        project = self._project
        homes = {_home().resolve(), account_home().resolve()}
        if any(is_within(home, project) for home in homes):
            raise UserError(
                phrase(
                    "Programs cannot run here: {path} holds your home folder, which they must not "
                    "see. Open a folder inside it instead.",
                    path=str(project),
                )
            )
        if _is_system_folder(project):
            raise UserError(
                phrase(
                    "Programs cannot run here: {path} is part of the system. Open another folder.",
                    path=str(project),
                )
            )
        if project in self._hidden:
            raise UserError(phrase("Programs cannot run in Onefold's own data folder."))


def _siblings(names: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files and folders beside *names*. Raises `UserError` if they are too many."""
    siblings = [
        Path(entry.path)
        for folder in sorted({path.parent for path in names})
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name)
        if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
    ]
    if len(siblings) > _MAX_SIBLINGS:
        raise UserError(
            phrase(
                "Programs cannot run here: Onefold is loaded through a link in a folder of {n} "
                "files. Start it by its own path.",
                n=len(siblings),
            )
        )
    return tuple(siblings)


def _is_system_folder(folder: Path) -> bool:
    """Return whether *folder* holds what programs need, or lies where the sandbox has its own."""
    holds = any(is_within(path, folder) for path in map(Path, _NEEDED_FOLDERS))
    return holds or _is_in_system_folder(folder)


def _is_in_system_folder(path: Path) -> bool:
    within = any(is_within(path, Path(folder)) for folder in _SYSTEM_FOLDERS)
    return within and not is_in_shared_memory(path)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # neither the environment nor the system knows one
        return account_home()


def _is_below_any(path: Path, folders: Sequence[Path]) -> bool:
    return any(folder in path.parents for folder in folders)
