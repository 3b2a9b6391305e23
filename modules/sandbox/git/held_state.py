"""State of the project's repository, held while a run takes, to make one that is gone anew."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from modules.files.git.state_names import split_submodule
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.filesystem.held_folder import HeldFolder
from modules.sandbox.filesystem.moved_folders import move_back
from modules.sandbox.git.baseline import is_folder
from modules.sandbox.git.object_files import clear_way
from modules.sandbox.git.stand_in_files import NotPlain, copy_file, is_copied, stamps_in

UNFINISHED = ".onefold-new"
"""The end of the name of a repository while it is made."""


class HeldState:
    """Copies, in *folder*, of the state and settings of the repository of *project*."""

    def __init__(self, project: Path, folder: Path) -> None:
        self._git = project / ".git"
        self._project = project
        self._folder = folder

    def hold(self) -> None:
        """Copy what has changed; where not all can be copied, nothing is held."""
        git = self._git
        try:
            found = stamps_in(git, is_copied) if is_folder(git) else {}
            for name in dict(files_in(self._folder)).keys() - found.keys():
                (self._folder / name).unlink()
            for name in found:
                target, now = self._folder / name, (git / name).stat()
                if not _is_copy(target, now):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    if target.is_dir():
                        remove_scratch(target)  # of branches that are gone
                    target.unlink(missing_ok=True)
                    copy_file(git / name, target)
                    target.chmod(stat.S_IMODE(now.st_mode))
        except (OSError, NotPlain):
            remove_scratch(self._folder)

    def complete(self, project: HeldFolder, repository: str) -> None:
        """Have what git knows *repository* by: a HEAD, as it was, and a folder of refs."""
        own = f"{repository}/".removeprefix(".git/")
        head = self._folder / own / "HEAD"
        if not head.is_file():
            return
        if not project.is_folder(f"{repository}/refs"):
            clear_way(project, f"{repository}/refs/heads")
            project.make_folder(f"{repository}/refs")
        status = project.status(f"{repository}/HEAD")
        if status is None or not stat.S_ISREG(status.st_mode):
            clear_way(project, f"{repository}/HEAD")
            project.copy(f"{repository}/HEAD", head, 0o644)

    def rebuild(self, git: Path) -> bool:
        """Make the repository *git*, which is gone, anew; return whether that can be.

        It is the project's own, or that of a submodule in it. Its settings are not in it yet, nor
        are its objects. Raises `OSError`.
        """
        own = self._git
        if own not in (git, *git.parents) or not is_folder(self._project):
            return False
        place = "" if git == own else f"{git.relative_to(own).as_posix()}/"
        state = [name for name, _ in files_in(self._folder) if name.startswith(place)]
        if not state or (place and split_submodule(f"{place}HEAD")[0] != place):
            return False
        unfinished = git.with_name(f"{git.name}{UNFINISHED}")
        with HeldFolder.open(self._project) as project:
            project.make_folder(git.parent.relative_to(self._project).as_posix())
        with HeldFolder.open(git.parent) as folder:
            folder.remove(unfinished.name)  # what a kill left
            for name in (name.removeprefix(place) for name in state):
                if split_submodule(f"{place}{name}")[1] == "HEAD":  # of no linked work tree
                    inner = os.path.dirname(name)  # noqa: PTH120
                    for needed in ("refs", "objects"):
                        folder.make_folder(f"{unfinished.name}/{inner}/{needed}")
                copy = self._folder / place / name
                mode = stat.S_IMODE(copy.stat().st_mode)
                folder.copy(f"{unfinished.name}/{name}", copy, mode)
        move_back(unfinished, git)
        return True


def files_in(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the files in our own *folder*, and their sizes."""
    pending = [os.fspath(folder)] if folder.is_dir() else []
    start = len(os.fspath(folder)) + 1
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    yield entry.path[start:], entry.stat(follow_symlinks=False).st_size


def _is_copy(path: Path, of: os.stat_result) -> bool:
    """Return whether *path* is a copy with the time of what it was made *of*."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        return (status.st_size, status.st_mtime_ns) == (of.st_size, of.st_mtime_ns)
    return False
