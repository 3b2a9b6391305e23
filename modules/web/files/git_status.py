"""What git thinks of the files: changed, new or in conflict, asked without running its code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit, isolated_git
from modules.files.git.repository import words_of, work_tree
from utils.i18n import UserError

_SECONDS = 5.0
_COMMANDS = (
    ("diff-index", "--relative", "--cached", "--name-status", "--no-renames", "-z", "HEAD"),
    ("diff-files", "--relative", "--name-status", "--ignore-submodules=all", "-z"),
)
# `diff-files` believes a file's time, as the index last knew it; this one reads the content.
_REALLY_CHANGED = ("ls-files", "-m", "-z")
_NEW = ("ls-files", "-o", "--exclude-standard", "-z")


def badges(root: Path) -> dict[str, str]:
    """Return a letter for every file below *root* that is not as git last kept it.

    M modified, A added, D deleted, U in conflict, ? unknown to git. Empty without a repository.
    """
    tree = work_tree(root)
    if tree is None:
        return {}
    try:
        git = isolated_git(tree)
    except (OSError, UserError):
        return {}
    return _asked_of(git, root) if git else {}


def _asked_of(git: IsolatedGit, root: Path) -> dict[str, str]:
    staged, unstaged = (_letters(_asked(git, command, root)) for command in _COMMANDS)
    if "M" in unstaged.values():
        unstaged = _without_touched(git, unstaged, root)
    # Both may name a file; being new in the index outweighs a change after that.
    found = unstaged | {
        path: letter for path, letter in staged.items() if letter == "A" or path not in unstaged
    }
    found |= dict.fromkeys(_asked(git, _NEW, root), "?")
    return found


def _letters(words: Sequence[str]) -> dict[str, str]:
    """Return the letters by path of what `--name-status -z` prints; a changed type is an M."""
    # A file in conflict is named twice, as such and as modified: sorted, the U is the last word.
    pairs = sorted(zip(words[::2], words[1::2], strict=False))
    return {path: letter[:1].replace("T", "M") for letter, path in pairs if letter[:1] in "MADUT"}


def _without_touched(git: IsolatedGit, letters: dict[str, str], root: Path) -> dict[str, str]:
    """Return *letters* without every M of a file whose content is as the index has it."""
    changed = words_of(git, _REALLY_CHANGED, root, _SECONDS)
    if changed is None:
        return letters
    really = set(changed)
    return {path: letter for path, letter in letters.items() if letter != "M" or path in really}


def _asked(git: IsolatedGit, command: Sequence[str], root: Path) -> list[str]:
    """Return the words that git prints, none if it fails; paths are relative to *root*."""
    return words_of(git, command, root, _SECONDS) or []
