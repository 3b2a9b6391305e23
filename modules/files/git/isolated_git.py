"""Running git so that it starts no program, whatever a repository holds.

Programs of the model write files in the project, and so may have planted what git obeys. Git reads
settings, hooks and attributes from the *common folder* of a repository; here it gets one of ours
for one, in which nothing stands that could start a program. So a setting that nobody thought of
does not count either.

This is the one place that starts git. What makes git run itself in another repository (`add`,
`status` and `diff` where the index names a submodule) must not be asked for: `ls-files`,
`diff-files --ignore-submodules=all`, `diff-index --cached` and `update-index` do not.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from modules.files.git.common_dir import PrivateCommonDir, common_dir_for
from modules.files.git.git_guard import GitFolders, find_git_folders
from modules.files.git.submodule_pipes import find_submodule_pipe
from utils.system.child import ChildResult, OnCancel, run_program
from utils.system.programs import system_program

_SECONDS = 60.0
_READS_SUBMODULES = frozenset({"diff-files", "update-index"})
_ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
}


@dataclass(frozen=True, slots=True)
class IsolatedGit:
    """Git for the work tree *tree*, the repository of which lies in *folders*.

    *variables* are added to its environment; *until* is `Stop.on_stop`.
    """

    tree: Path
    folders: GitFolders
    common_dir: PrivateCommonDir
    program: str
    until: OnCancel | None = None
    variables: tuple[tuple[str, str], ...] = ()

    def with_variables(self, variables: Mapping[str, str]) -> IsolatedGit:
        return replace(self, variables=(*self.variables, *variables.items()))

    def run(
        self,
        *arguments: str,
        folder: Path | None = None,
        stdin: bytes = b"",
        seconds: float = _SECONDS,
    ) -> ChildResult:
        """Run git in *folder* (without one, in the work tree) with *stdin*; return its answer.

        Raises `TimedOut`, and `OSError` if it does not start, or would wait at a pipe that was put
        into a submodule.
        """
        if arguments[0] in _READS_SUBMODULES or {"ls-files", "-m"} <= {*arguments}:
            self._refuse_pipes()
        environment = {
            "HOME": os.fspath(self.common_dir.path),
            "GIT_DIR": os.fspath(self.folders.git_dir),
            "GIT_COMMON_DIR": os.fspath(self.common_dir.path),
            "GIT_WORK_TREE": os.fspath(self.tree),
        }
        return run_program(
            [self.program, *arguments],
            folder=folder or self.tree,
            environment=_ENVIRONMENT | environment | dict(self.variables),
            seconds=seconds,
            stdin=stdin,
            on_cancel=self.until,
        )

    def _refuse_pipes(self) -> None:
        """Raise `OSError` where git would wait at something that a program has made."""
        index = self.folders.git_dir / "index"
        list_index = partial(self.run, "ls-files", "--stage", "-z")
        if pipe := find_submodule_pipe(self.tree, index, list_index):
            raise OSError(errno.EINVAL, "git reads it, but it is no plain file", os.fspath(pipe))


class InstalledGit(NamedTuple):
    """The path of *program*, and the folder *core* of what git runs as parts of itself."""

    program: str
    core: Path


def has_git() -> bool:
    """Return whether git is installed."""
    return _program() is not None


def isolated_git(tree: Path, until: OnCancel | None = None) -> IsolatedGit | None:
    """Return git for the work tree *tree*.

    None without git, where `.git` leads elsewhere, and where git would wait at a pipe at once.
    Raises `UserError` for a `.git` that is a link, `OSError` where none of ours can be made.
    """
    program, folders = _program(), find_git_folders(tree)
    if program is None or folders is None or (folders.git_dir / "HEAD").is_fifo():
        return None
    return IsolatedGit(tree.resolve(), folders, common_dir_for(program, folders), program, until)


def isolated_repository(folder: Path) -> IsolatedGit | None:
    """Return git for the repository *folder* without its work tree; None without git.

    Raises `OSError`.
    """
    program = _program()
    if program is None:
        return None
    folders = GitFolders(folder, folder)
    return IsolatedGit(folder, folders, common_dir_for(program, folders), program)


def installed_git() -> InstalledGit | None:
    """Return git as it is installed, None without git. Raises `TimedOut`."""
    program = _program()
    if program is None:
        return None
    environment = {"PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1", "HOME": os.devnull}
    said = run_program(
        [program, "--exec-path"], folder=Path("/"), environment=environment, seconds=60
    )
    return InstalledGit(program, Path(os.fsdecode(said.output.strip())))


def _program() -> str | None:
    return system_program("git")
