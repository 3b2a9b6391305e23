"""What a program sees of the machine: decided anew for each call, before anything is mounted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from modules.files.git.git_guard import readable_repository
from modules.files.own_code import OwnCode, part_from_links
from modules.sandbox.filesystem.devices import DeviceNodes
from modules.sandbox.filesystem.etc import PreparedEtc, account_home
from modules.sandbox.filesystem.folders import real_path
from modules.sandbox.filesystem.interpreter import Interpreter, find_interpreter
from modules.sandbox.filesystem.mount_points import MountPoints
from modules.sandbox.filesystem.replaced_files import ReplacedFiles
from modules.sandbox.filesystem.unix_sockets import sockets_in
from modules.sandbox.types import CERTIFICATES, Network
from utils.i18n import UserError, phrase
from utils.text.clean import visible

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it are people's, as in /tmp
_TAKEN = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys")
"""A project cannot lie in these: they are not the machine's own in a sandbox."""
_NEEDED = ("/usr", "/tmp", "/var/tmp", *_TAKEN)  # noqa: S108 - named, not written to
_NOTHING = Path("/dev/null")
_MOST_BESIDE = 1_000  # each is a mount, and bubblewrap takes 9,000 arguments
_NO_HOME = Path("/home/user")


@dataclass(frozen=True, slots=True)
class MountPlan:
    """*repository* is shown read-only; *covered* are paths with an empty folder over them, those
    of them that do not exist being *ghosts* (names in the project).
    """

    project: Path
    home: Path
    etc: Path
    interpreter: Interpreter | None
    repository: tuple[Path, ...]
    covered: tuple[Path, ...]
    ghosts: tuple[str, ...]
    masked: tuple[tuple[Path, Path], ...] = ()
    """Files of the project, and what is shown read-only in the place of each."""
    network: Path | None = None
    """The socket of the proxy, where there is a way to the network."""
    variables: tuple[tuple[str, str], ...] = ()
    """What is added to the environment."""
    shown: tuple[tuple[Path, Path], ...] = ()
    """What else is shown read-only, and where."""
    nodes: tuple[Path, ...] = ()
    """Device nodes to show in /dev in the place of the machine's."""
    own: tuple[Path, ...] = ()
    """What Onefold itself is loaded from, to be read only."""
    names: tuple[Path, ...] = ()
    """Links on the way there, and where no name can be kept free what is missing of it: what keeps
    these is that nothing can change in the folders they are in.
    """
    beside: tuple[Path, ...] = ()
    """What else is in these folders, to be written to."""

    @property
    def fixed(self) -> tuple[Path, ...]:
        """The folders in which nothing can be made, moved or removed, for the sake of `names`."""
        return tuple(sorted({path.parent for path in self.names}))

    def leading_to(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Return the folders between the project and *paths*, from above downwards."""
        folders = {
            folder for path in paths for folder in path.parents if self.project in folder.parents
        }
        return tuple(sorted(folders))


class MountPlanner:
    """Makes the views of one project. Raises `UserError` for a folder that cannot be confined."""

    def __init__(
        self,
        project: Path,
        hidden: Sequence[Path],
        cache_folder: Path,
        covers: Callable[[], Mapping[Path, str]] = dict,
        own: OwnCode | None = None,
    ) -> None:
        """*covers* says what is to be read in place of some files of the project."""
        self._own = own or OwnCode()
        self._covers = covers
        self._masks = ReplacedFiles(cache_folder)
        self._project = project.resolve()
        self._hidden = tuple(path.resolve() for path in hidden)
        self._home = _visible_home()
        self._etc = PreparedEtc(cache_folder, self._home)
        self._nodes = DeviceNodes(cache_folder)
        self.ghosts = MountPoints(self._project, cache_folder)
        self._kept: tuple[Path, ...] = ()
        self._is_fit = False

    def view(self, *, with_mounts: bool = True) -> MountPlan:
        """Return what a program sees now; without mounts, no name is kept free in the project."""
        try:
            return self._view(with_mounts)
        except PermissionError as error:
            raise UserError(
                phrase(
                    "Programs cannot run here: {path} is locked. Give yourself the right to read "
                    "it (chmod u+rwx).",
                    path=str(error.filename or self._project),
                )
            ) from error

    def _view(self, with_mounts: bool) -> MountPlan:
        project = self._project
        self._check()
        interpreter = self.interpreter()
        ghosts = self._ghosts_needed() if with_mounts else ()
        shown = [Path("/usr"), project]
        if interpreter and interpreter.prefix:
            shown.append(interpreter.prefix)
        covered = [path for path in self._hidden if path.is_dir() and _is_below_any(path, shown)]
        covered = [path for path in covered if not _is_below_any(path, covered)]
        own = [project / path for path in self._own.paths]
        names = [project / path for path in self._own.links]
        if not with_mounts:
            names += [path for path in own if not path.exists()]
        return MountPlan(
            project,
            self._home,
            self._etc.folder(),
            interpreter,
            (*(() if ".git" in ghosts else readable_repository(project)), *self._guarded()),
            tuple(dict.fromkeys((*covered, *(project / name for name in ghosts)))),
            ghosts,
            (*self._masked(), *((path, _NOTHING) for path in sockets_in(project))),
            nodes=self._nodes.ready(),
            own=tuple(path for path in own if path.exists()),
            names=tuple(names),
            beside=_beside(names) if with_mounts else (),
        )

    def guard(self, folders: Iterable[str]) -> None:
        """Show *folders* of the project read-only from now on, as long as they are there."""
        self._kept = tuple(self._project / folder for folder in folders)

    def _guarded(self) -> Iterator[Path]:
        """Yield what to keep. Raises `PermissionError` where it cannot be told: it may be there."""
        return (path for path in self._kept if path.is_dir() and real_path(path) == path)

    def with_network(self, view: MountPlan, network: Network, socket: Path) -> MountPlan:
        """Return *view* with the way to *network* through *socket*."""
        folders = [path for path in network.folders if self._may_show(path)]
        shown = [(path, path) for path in folders]
        if network.certificates:
            shown.append((network.certificates, CERTIFICATES))
        variables = tuple(network.variables.items())
        return replace(view, network=socket, variables=variables, shown=tuple(shown))

    def _may_show(self, path: Path) -> bool:
        """Return whether *path* is neither seen already nor holds what must not be seen."""
        real = path.resolve()
        if real != path or any(_is_within(real, Path(seen)) for seen in ("/usr", self._project)):
            return False
        if len(real.parts) < 3 or any(_is_within(real, Path(taken)) for taken in _TAKEN):
            return False
        kept = (self._home.resolve(), account_home().resolve(), self._project, *self._hidden)
        return not any(_is_within(one, real) for one in kept)

    def interpreter(self) -> Interpreter | None:
        return find_interpreter(self._project, self._home, self._hidden)

    def _masked(self) -> Iterator[tuple[Path, Path]]:
        for path, text in self._covers().items():
            yield self._project / path.relative_to(self._project), self._masks.showing(text)

    def _ghosts_needed(self) -> tuple[str, ...]:
        """Return the names in the project that are to stay free, `.git` and what is hidden."""
        if not os.access(self._project, os.W_OK):
            return ()  # nobody can make them, and nothing can be mounted
        ours = [path.name for path in self._hidden if path.parent == self._project]
        fixed = {os.path.dirname(link) for link in self._own.links}  # noqa: PTH120 - none is made
        names = (".git", *ours, *self._own_missing())
        return self.ghosts.missing([name for name in names if os.path.dirname(name) not in fixed])  # noqa: PTH120

    def _own_missing(self) -> Iterator[str]:
        """Yield the names to keep free so that nobody makes what we would load."""
        for path in self._own.paths:
            ends = [end for end, letter in enumerate(f"{path}/") if letter == "/"]
            yield from self.ghosts.missing([path[:end] for end in ends])[:1]

    def _check(self) -> None:
        project = self._project
        if not project.is_dir():
            raise UserError(phrase("The project folder {path} is missing.", path=str(project)))
        if not self._is_fit:
            self._check_place()
            self._part_own()
            self._is_fit = True

    def _part_own(self) -> None:
        """Have nothing of ours be reached by another name in the project."""
        for path in map(self._project.joinpath, self._own.paths):
            if path not in self._hidden:
                try:
                    part_from_links(path)
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
        homes = {_home().resolve(), account_home().resolve(), self._home.resolve()}
        if any(_is_within(home, project) for home in homes):
            raise UserError(
                phrase(
                    "Programs cannot run here: {path} holds your home folder, which they must not "
                    "see. Open a folder inside it instead.",
                    path=str(project),
                )
            )
        if _is_of_the_system(project):
            raise UserError(
                phrase(
                    "Programs cannot run here: {path} is part of the system. Open another folder.",
                    path=str(project),
                )
            )
        if project in self._hidden:
            raise UserError(phrase("Programs cannot run in Onefold's own data folder."))


def _beside(names: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files and folders beside *names*. Raises `UserError` if they are too many."""
    beside = [
        Path(entry.path)
        for folder in sorted({path.parent for path in names})
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name)
        if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
    ]
    if len(beside) > _MOST_BESIDE:
        raise UserError(
            phrase(
                "Programs cannot run here: Onefold is loaded through a link in a folder of {n} "
                "files. Start it by its own path.",
                n=len(beside),
            )
        )
    return tuple(beside)


def _is_of_the_system(folder: Path) -> bool:
    """Return whether *folder* holds what programs need, or lies where the sandbox has its own."""
    if _SHARED_MEMORY in folder.parents:
        return False
    holds = any(_is_within(path, folder) for path in map(Path, _NEEDED))
    return holds or any(_is_within(folder, Path(path)) for path in _TAKEN)


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # neither the environment nor the system knows one
        return account_home()


def _visible_home() -> Path:
    """Return the path of the home folder if it can be that of an empty one in the sandbox."""
    home = Path(os.path.normpath(_home()))
    unfit = ("/usr", "/var", *_TAKEN)
    if not home.is_absolute() or home in (Path("/"), Path("/home"), Path("/tmp")):  # noqa: S108
        return _NO_HOME
    return _NO_HOME if any(_is_within(home, Path(path)) for path in unfit) else home


def _is_within(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _is_below_any(path: Path, folders: Sequence[Path]) -> bool:
    return any(folder in path.parents for folder in folders)
