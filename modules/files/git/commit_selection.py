"""Selecting the files of a commit: all that git tracks or would, but for those to keep private."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.tools import ToolError
from modules.files.git.common_dir import read_regular_file
from modules.files.git.git_runs import GitRuns
from modules.files.git.lfs import is_pointer_file
from modules.files.ignore import GENERATED_FOLDERS
from modules.secrets.env_files import is_env_name
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.lines import first_names

ALL = "."
_CONFLICT = re.compile(rb"^<<<<<<< .*?^=======\r?$.*?^>>>>>>> ", re.DOTALL | re.MULTILINE)
_CHANGED = ("diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=all")
_UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard")
_IGNORED = (*_UNTRACKED, "--ignored", "--directory")
_GENERATED = "".join(f"{name}/\n" for name in sorted(GENERATED_FOLDERS)).encode()


@dataclass(frozen=True, slots=True)
class CommitSelection:
    """Names of files, relative to the work tree: to be put into the index, and out of it.

    *generated* are folders that are left out because tools fill them, *env_files* new files that
    are because of their names. Submodules are left alone.
    """

    present: Sequence[bytes]
    deleted: Sequence[bytes]
    generated: Sequence[bytes]
    env_files: Sequence[bytes]


def select(git: GitRuns, paths: Sequence[str]) -> CommitSelection:
    """Return the files that a commit of *paths* takes (`ALL` names everything).

    What is left out by default is taken where it is named itself. Raises `ToolError` for what
    cannot be taken.
    """
    _refuse_unknown(git, paths)
    changed = git.split_output(*_CHANGED, "--", *paths)
    names = dict.fromkeys(changed[1::2])
    deleted = {name for letter, name in zip(changed[::2], changed[1::2], strict=True)
            if letter == b"D" or not os.path.lexists(git.tree / os.fsdecode(name))}  # fmt: skip
    untracked = _untracked_files(git, paths)
    env_files = [
        name for name in untracked if _is_env_file(name) and os.fsdecode(name) not in paths
    ]
    selected = [
        name for name in (*names, *untracked) if name not in deleted and name not in env_files
    ]
    _refuse_conflicts(git, selected)
    _refuse_repositories(git.tree, selected)
    refuse_filters(git, selected)
    return CommitSelection(selected, list(deleted), _generated(git, paths), env_files)


def submodules(git: GitRuns) -> list[bytes]:
    """Return the paths of the submodules in the index of *git*."""
    rows = git.split_output("ls-files", "-z", "--stage")
    return [row.partition(b"\t")[2] for row in rows if row.startswith(b"160000 ")]


def _refuse_conflicts(git: GitRuns, names: Sequence[bytes]) -> None:
    """Refuse files of a merge that hold both sides as git left them: that is hardly ever meant."""
    rows = git.split_output("ls-files", "-z", "--unmerged")
    unmerged = {row.partition(b"\t")[2] for row in rows}
    left = [
        visible(os.fsdecode(name)) for name in names
        if name in unmerged and _CONFLICT.search(read_regular_file(git.tree / os.fsdecode(name)))
    ]  # fmt: skip
    if left:
        raise ToolError(
            phrase(
                "Conflict markers are left in {names}: resolve the conflicts first, or git add the "
                "files if they are meant to be there.",
                names=first_names(left),
            )
        )


def _refuse_unknown(git: GitRuns, paths: Sequence[str]) -> None:
    submodule_paths = submodules(git)
    for path in paths:
        above = [path, *map(os.fspath, Path(path).parents)]
        if inner := next((one for one in above if os.fsencode(one) in submodule_paths), None):
            raise _repository_error(inner)
        if path == ALL or git.split_output("ls-files", "-z", "--", path):
            continue
        if not os.path.lexists(git.tree / path):
            raise ToolError(phrase("{path} is neither here nor known to git.", path=visible(path)))
        if git.split_output(*_IGNORED, "--", path) and not git.split_output(
            *_UNTRACKED, "--", path
        ):
            raise ToolError(
                phrase("{path} is ignored by the rules of git (.gitignore).", path=visible(path))
            )


def _repository_error(path: str) -> ToolError:
    return ToolError(
        phrase("{path} is a repository of its own: name paths.", path=visible(path.rstrip("/")))
    )


def _untracked_files(git: GitRuns, paths: Sequence[str]) -> list[bytes]:
    """Return the files that git does not track, without what tools fill unless it is named."""
    named = [path for path in paths if not GENERATED_FOLDERS.isdisjoint(path.split("/"))]
    other_paths = [path for path in paths if path not in named]
    found = git.split_output(*_UNTRACKED, "--", *named) if named else []
    exclude_file = git.write_file("generated", _GENERATED)
    found += (
        git.split_output(*_UNTRACKED, f"--exclude-from={exclude_file}", "--", *other_paths)
        if other_paths
        else []
    )
    is_own = _names_in_repository(git)
    return [name for name in dict.fromkeys(found) if not is_own(name)]


def _names_in_repository(git: GitRuns) -> Callable[[bytes], bool]:
    """Return what says of a name whether it is of the repository itself.

    Under another name than `.git` git takes its own files for those of the work tree.
    """
    repository, tree = git.git.folders.common_dir.resolve(), git.tree.resolve()
    if tree not in repository.parents:
        return lambda _name: False
    prefix = os.fsencode(f"{repository.relative_to(tree)}/")
    return lambda name: name.startswith(prefix)


def _generated(git: GitRuns, paths: Sequence[str]) -> list[bytes]:
    """Return the folders that only `GENERATED_FOLDERS` leaves out, not git's own rules."""
    other_paths = [path for path in paths if GENERATED_FOLDERS.isdisjoint(path.split("/"))]
    if not other_paths:
        return []
    exclude_file = git.write_file("generated", _GENERATED)
    more = git.split_output(*_IGNORED, f"--exclude-from={exclude_file}", "--", *other_paths)
    already_ignored = set(git.split_output(*_IGNORED, "--", *other_paths))
    return [name for name in more if name not in already_ignored and _is_generated(name)]


def _is_generated(name: bytes) -> bool:
    return os.fsdecode(name).rstrip("/").rpartition("/")[2] in GENERATED_FOLDERS


def _is_env_file(name: bytes) -> bool:
    return is_env_name(os.fsdecode(name).rpartition("/")[2])


def _refuse_repositories(tree: Path, names: Iterable[bytes]) -> None:
    for name in map(os.fsdecode, names):
        if name.endswith("/") or ((tree / name).is_dir() and not (tree / name).is_symlink()):
            raise _repository_error(name)


def refuse_filters(git: GitRuns, names: Iterable[bytes]) -> None:
    """Raise `ToolError` where a program, which is not run, would have to store one of *names*."""
    stdin = b"".join(name + b"\0" for name in names)
    attributes = git.split_output("check-attr", "-z", "--stdin", "filter", stdin=stdin)
    for name, value in zip(attributes[::3], attributes[2::3], strict=False):
        if value == b"lfs" and is_pointer_file(git.tree / os.fsdecode(name)):
            continue
        if value == b"lfs":
            raise ToolError(
                phrase(
                    "{path} is stored by git-lfs, which is not run here: commit it with a "
                    "command in the sandbox, or the person has to.",
                    path=visible(os.fsdecode(name)),
                )
            )
        if value not in (b"unspecified", b"unset"):
            raise ToolError(
                phrase(
                    "{path} is stored by the filter program {filter}, which is not run for "
                    "the model: the person has to commit it.",
                    path=visible(os.fsdecode(name)),
                    filter=visible(os.fsdecode(value)),
                )
            )
