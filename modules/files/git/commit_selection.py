"""Selecting what a commit takes: all that git tracks or would, but for what nobody publishes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.tools import ToolError
from modules.files.git.git_runs import GitRuns
from modules.files.ignore import GENERATED_FOLDERS
from modules.secrets.env_files import is_env_name
from utils.i18n import phrase
from utils.text.clean import visible

ALL = "."
_CHANGED = ("diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=all")
_NEW = ("ls-files", "-z", "--others", "--exclude-standard")
_IGNORED = (*_NEW, "--ignored", "--directory")
_GENERATED = "".join(f"{name}/\n" for name in sorted(GENERATED_FOLDERS)).encode()


@dataclass(frozen=True, slots=True)
class CommitSelection:
    """Names of files, relative to the work tree: to be put into the index, and out of it.

    *generated* are folders that are left out because tools fill them, *settings* new files that
    are because of their names. Submodules are left alone.
    """

    present: Sequence[bytes]
    gone: Sequence[bytes]
    generated: Sequence[bytes]
    settings: Sequence[bytes]


def select(git: GitRuns, paths: Sequence[str]) -> CommitSelection:
    """Return what a commit of *paths* takes (`ALL` names everything).

    What is left out by default is taken where it is named itself. Raises `ToolError` for what
    cannot be taken.
    """
    _refuse_unknown(git, paths)
    changed = git.words(*_CHANGED, "--", *paths)
    names = dict.fromkeys(changed[1::2])
    gone = {name for letter, name in zip(changed[::2], changed[1::2], strict=True)
            if letter == b"D" or not os.path.lexists(git.tree / os.fsdecode(name))}  # fmt: skip
    new = _new(git, paths)
    settings = [name for name in new if _is_settings(name) and os.fsdecode(name) not in paths]
    taken = [name for name in (*names, *new) if name not in gone and name not in settings]
    _refuse_repositories(git.tree, taken)
    _refuse_filters(git, taken)
    return CommitSelection(taken, list(gone), _generated(git, paths), settings)


def submodules(git: GitRuns) -> list[bytes]:
    """Return what the index of *git* knows as the place of another repository."""
    rows = git.words("ls-files", "-z", "--stage")
    return [row.partition(b"\t")[2] for row in rows if row.startswith(b"160000 ")]


def _refuse_unknown(git: GitRuns, paths: Sequence[str]) -> None:
    inner_ones = submodules(git)
    for path in paths:
        above = [path, *map(os.fspath, Path(path).parents)]
        if inner := next((one for one in above if os.fsencode(one) in inner_ones), None):
            raise _is_repository(inner)
        if path == ALL or git.words("ls-files", "-z", "--", path):
            continue
        if not os.path.lexists(git.tree / path):
            raise ToolError(phrase("{path} is neither here nor known to git.", path=visible(path)))
        if git.words(*_IGNORED, "--", path) and not git.words(*_NEW, "--", path):
            raise ToolError(
                phrase("{path} is ignored by the rules of git (.gitignore).", path=visible(path))
            )


def _is_repository(path: str) -> ToolError:
    return ToolError(
        phrase("{path} is a repository of its own: name paths.", path=visible(path.rstrip("/")))
    )


def _new(git: GitRuns, paths: Sequence[str]) -> list[bytes]:
    """Return the files that git does not track, without what tools fill unless it is named."""
    named = [path for path in paths if not GENERATED_FOLDERS.isdisjoint(path.split("/"))]
    usual = [path for path in paths if path not in named]
    found = git.words(*_NEW, "--", *named) if named else []
    rules = git.note("generated", _GENERATED)
    found += git.words(*_NEW, f"--exclude-from={rules}", "--", *usual) if usual else []
    return list(dict.fromkeys(found))


def _generated(git: GitRuns, paths: Sequence[str]) -> list[bytes]:
    """Return the folders that only `GENERATED_FOLDERS` leaves out, not git's own rules."""
    usual = [path for path in paths if GENERATED_FOLDERS.isdisjoint(path.split("/"))]
    if not usual:
        return []
    rules = git.note("generated", _GENERATED)
    more = git.words(*_IGNORED, f"--exclude-from={rules}", "--", *usual)
    usually = set(git.words(*_IGNORED, "--", *usual))
    return [name for name in more if name not in usually and _is_generated(name)]


def _is_generated(name: bytes) -> bool:
    return os.fsdecode(name).rstrip("/").rpartition("/")[2] in GENERATED_FOLDERS


def _is_settings(name: bytes) -> bool:
    return is_env_name(os.fsdecode(name).rpartition("/")[2])


def _refuse_repositories(tree: Path, names: Iterable[bytes]) -> None:
    for name in map(os.fsdecode, names):
        if name.endswith("/") or ((tree / name).is_dir() and not (tree / name).is_symlink()):
            raise _is_repository(name)


def _refuse_filters(git: GitRuns, names: Iterable[bytes]) -> None:
    given = b"".join(name + b"\0" for name in names)
    said = git.words("check-attr", "-z", "--stdin", "filter", given=given)
    for name, value in zip(said[::3], said[2::3], strict=False):
        if value not in (b"unspecified", b"unset"):
            raise ToolError(
                phrase(
                    "{path} is stored by the filter program {filter}, which is not run for "
                    "the model: the person has to commit it.",
                    path=visible(os.fsdecode(name)),
                    filter=visible(os.fsdecode(value)),
                )
            )
