"""The state of the repository: its branch, what is staged and what is not, without any network."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.tools import ToolError
from modules.files.git.common_dir import read_regular_file
from modules.files.git.git_runs import GitRuns
from modules.files.git_remotes.branches import commit_of
from modules.files.git_remotes.upstreams import upstream_of
from utils.text.clean import visible

MAX_FILES = 1_000
"""Files of a kind that one answer names."""
UnderWay = Literal["", "merge", "rebase", "cherry-pick", "revert", "bisect"]
Letter = Literal["A", "M", "D", "T", "U", "?"]
_NAMES = ("--name-status", "--no-renames", "-z")
_UNDER_WAY: tuple[tuple[str, UnderWay], ...] = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """A file, named *shown* to people, and how it differs: as `git status` has the letter."""

    path: str
    shown: str
    letter: Letter


@dataclass(frozen=True, slots=True)
class FileList:
    """Files in the order of their names; *left_out* counts those that are not among them."""

    files: tuple[ChangedPath, ...] = ()
    left_out: int = 0

    @property
    def count(self) -> int:
        return len(self.files) + self.left_out


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """The state of a repository.

    *branch* is "" where HEAD is detached at the commit *head*, which is "" before the first one.
    *ahead* and *behind* count commits against *upstream* as it was last fetched; "" is none.
    """

    branch: str
    head: str
    upstream: str
    ahead: int
    behind: int
    under_way: UnderWay
    staged: FileList
    unstaged: FileList
    untracked: FileList
    conflicts: FileList
    submodules: int
    is_linked: bool

    @property
    def is_clean(self) -> bool:
        lists = (self.staged, self.unstaged, self.untracked, self.conflicts)
        return not any(one.count for one in lists)


def read_state(git: GitRuns) -> RepositoryState:
    """Return the state of the repository of *git*. Raises `ToolError`."""
    head, branch = commit_of(git, "HEAD"), branch_of(git)
    upstream = _upstream(git, branch)
    ahead, behind = _distance(git, head, upstream)
    conflicts = set(conflicting(git))
    staged = [one for one in _staged(git, head) if one[1] not in conflicts]
    unstaged = [one for one in _unstaged(git) if one[1] not in conflicts]
    untracked = git.split_output("ls-files", "-z", "--others", "--exclude-standard")
    folders = git.git.folders
    return RepositoryState(
        branch,
        head,
        upstream.removeprefix("refs/remotes/"),
        ahead,
        behind,
        under_way(git),
        _listed(staged),
        _listed(unstaged),
        _listed([(b"?", name) for name in untracked]),
        _listed([(b"U", name) for name in conflicts]),
        sum(row.startswith(b"160000 ") for row in git.split_output("ls-files", "-s", "-z")),
        folders.git_dir != folders.common_dir,
    )


def branch_of(git: GitRuns) -> str:
    """Return the branch that is checked out, "" where HEAD is detached."""
    named = git.split_output("symbolic-ref", "--quiet", "HEAD", may_fail=True, end=b"\n")
    return os.fsdecode(named[0]).removeprefix("refs/heads/") if named else ""


def under_way(git: GitRuns) -> UnderWay:
    """Return what was begun in the repository and is to be finished first."""
    folder = git.git.folders.git_dir
    for name, what in _UNDER_WAY:
        if (folder / name).exists():
            return what
    return _rest_of_sequence(folder)


def _rest_of_sequence(folder: Path) -> UnderWay:
    """Return what has more commits to take, where the one that stopped it is committed by now."""
    words = read_regular_file(folder / "sequencer" / "todo").split(None, 1)
    return "" if not words else "revert" if words[0] == b"revert" else "cherry-pick"


def conflicting(git: GitRuns) -> list[bytes]:
    """Return the names of the files with conflicts."""
    rows = git.split_output("ls-files", "--unmerged", "-z")
    return list(dict.fromkeys(row.partition(b"\t")[2] for row in rows))


def tree_of(git: GitRuns, head: str) -> str:
    """Return *head*, or the empty tree where that is ""."""
    return head or git.run("hash-object", "-t", "tree", "--stdin").decode().strip()


def _staged(git: GitRuns, head: str) -> list[tuple[bytes, bytes]]:
    return _pairs(git.split_output("diff-index", "--cached", *_NAMES, tree_of(git, head), "--"))


def _unstaged(git: GitRuns) -> list[tuple[bytes, bytes]]:
    found = _pairs(git.split_output("diff-files", *_NAMES, "--ignore-submodules=all"))
    if not any(letter == b"M" for letter, _ in found):
        return found
    # diff-files believes a file's time, as the index last knew it; this one reads the content.
    modified = set(git.split_output("ls-files", "-m", "-z"))
    return [one for one in found if one[0] != b"M" or one[1] in modified]


def _pairs(words: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Return letters and names; of a file in conflict, which is named twice, neither."""
    pairs = list(zip((word[:1] for word in words[::2]), words[1::2], strict=True))
    return [one for one in pairs if one[0] in b"AMDT"]


def _listed(found: Sequence[tuple[bytes, bytes]]) -> FileList:
    ordered = sorted(found, key=lambda one: one[1])
    return FileList(tuple(_changed(ordered[:MAX_FILES])), max(0, len(ordered) - MAX_FILES))


def _changed(found: Sequence[tuple[bytes, bytes]]) -> Iterator[ChangedPath]:
    for letter, name in found:
        path = os.fsdecode(name)
        yield ChangedPath(path, visible(path), letter.decode())  # type: ignore[arg-type]


def _upstream(git: GitRuns, branch: str) -> str:
    """Return the ref that *branch* follows, if that was ever fetched, else ""."""
    config = git.git.folders.common_dir / "config"
    try:
        found = upstream_of(git.git, config, branch) if branch and config.is_file() else ""
    except OSError:
        return ""
    return found if found and commit_of(git, found) else ""


def _distance(git: GitRuns, head: str, upstream: str) -> tuple[int, int]:
    if not head or not upstream:
        return 0, 0
    try:
        span = f"{head}...{upstream}"
        counts = git.run("rev-list", "--left-right", "--count", span, "--").split()
    except ToolError:  # a shallow clone may lack what lies between
        return 0, 0
    return int(counts[0]), int(counts[1])
