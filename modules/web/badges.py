"""What git thinks of the files: changed, new or in conflict, asked without running its code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from modules.files.repository import HARMLESS, ask_git, work_tree

_SECONDS = 5.0
# Comparing a file may run the filters that a repository names, so each is turned off by name.
_NO_FILTER = {"clean": "", "smudge": "", "process": "", "required": "false"}
_COMMANDS = (
    ("diff-index", "--relative", "--cached", "--name-status", "--no-renames", "-z", "HEAD"),
    ("diff-files", "--relative", "--name-status", "--ignore-submodules", "-z"),
)
_NEW = ("ls-files", "-o", "--exclude-standard", "-z")
_FILTERS = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")


def badges(root: Path) -> dict[str, str]:
    """Return a letter for every file below *root* that is not as git last kept it.

    M modified, A added, D deleted, U in conflict, ? unknown to git. Empty without a repository.
    """
    tree = work_tree(root)
    if tree is None:
        return {}
    settings = HARMLESS | _without_filters(root, tree)
    found: dict[str, str] = {}
    for command in _COMMANDS:
        words = _asked(command, root, tree, settings)
        for letter, path in zip(words[::2], words[1::2], strict=False):
            # Both lists may name a file; being new in the index outweighs a change after that.
            if letter[:1] in "MADUT" and found.get(path) != "A":
                found[path] = letter[:1].replace("T", "M")
    found |= dict.fromkeys(_asked(_NEW, root, tree, settings), "?")
    return found


def _without_filters(root: Path, tree: Path) -> dict[str, str]:
    """Return the settings that turn off every filter of the repository."""
    keys = _asked(_FILTERS, root, tree, HARMLESS)
    names = {key.partition(".")[2].rpartition(".")[0] for key in keys}
    return {f"filter.{name}.{part}": off for name in names for part, off in _NO_FILTER.items()}


def _asked(
    command: Sequence[str], root: Path, tree: Path, settings: Mapping[str, str]
) -> list[str]:
    """Return the words that git prints, none if it fails; paths are relative to *root*."""
    return ask_git(command, folder=root, tree=tree, seconds=_SECONDS, settings=settings) or []
