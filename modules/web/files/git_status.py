"""Git's status of the files: changed, new or in conflict, queried without running repo code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit, isolated_git
from modules.files.git.repository import find_work_tree, output_fields
from utils.i18n import UserError

_TIMEOUT_SECONDS = 5.0
_STATUS_COMMANDS = (
    ("diff-index", "--relative", "--cached", "--name-status", "--no-renames", "-z", "HEAD", "--"),
    ("diff-files", "--relative", "--name-status", "--ignore-submodules=all", "-z"),
)
# `diff-files` believes a file's time, as the index last knew it; this one reads the content.
_LIST_MODIFIED = ("ls-files", "-m", "-z")
_LIST_UNTRACKED = ("ls-files", "-o", "--exclude-standard", "-z")


def git_statuses(root: Path) -> dict[str, str]:
    """Return a letter for every file below *root* that is not as git last kept it.

    M modified, A added, D deleted, U in conflict, ? unknown to git. Empty without a repository.
    """
    tree = find_work_tree(root)
    if tree is None:
        return {}
    try:
        git = isolated_git(tree)
    except (OSError, UserError):
        return {}
    return _query_statuses(git, root) if git else {}


def _query_statuses(git: IsolatedGit, root: Path) -> dict[str, str]:
    staged, unstaged = (_parse_statuses(_query(git, command, root)) for command in _STATUS_COMMANDS)
    if "M" in unstaged.values():
        unstaged = _without_unchanged(git, unstaged, root)
    # Both may name a file; being new in the index outweighs a change after that.
    statuses = unstaged | {
        path: letter for path, letter in staged.items() if letter == "A" or path not in unstaged
    }
    statuses |= dict.fromkeys(_query(git, _LIST_UNTRACKED, root), "?")
    return statuses


def _parse_statuses(words: Sequence[str]) -> dict[str, str]:
    """Return the letters by path of what `--name-status -z` prints; a changed type is an M."""
    # A file in conflict is named twice, as such and as modified: sorted, the U is the last word.
    pairs = sorted(zip(words[::2], words[1::2], strict=False))
    return {path: letter[:1].replace("T", "M") for letter, path in pairs if letter[:1] in "MADUT"}


def _without_unchanged(git: IsolatedGit, statuses: dict[str, str], root: Path) -> dict[str, str]:
    """Return *statuses* without every M of a file whose content is as the index has it."""
    changed = output_fields(git, _LIST_MODIFIED, root, _TIMEOUT_SECONDS)
    if changed is None:
        return statuses
    modified = set(changed)
    return {path: letter for path, letter in statuses.items() if letter != "M" or path in modified}


def _query(git: IsolatedGit, command: Sequence[str], root: Path) -> list[str]:
    """Return the words that git prints, none if it fails; paths are relative to *root*."""
    return output_fields(git, command, root, _TIMEOUT_SECONDS) or []
