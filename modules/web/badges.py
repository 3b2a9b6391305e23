"""What git thinks of the files: changed, new or in conflict, asked without running its code."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from utils.child import TooSlow, ask_program

_SECONDS = 5.0
# A repository is foreign data: nothing in its configuration may start a program. Comparing a file
# may run the filters that it names, so each of them is turned off by name.
_HARMLESS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "safe.bareRepository": "explicit",
}
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
    git = shutil.which("git")
    if git is None or not any(os.path.lexists(above / ".git") for above in (root, *root.parents)):
        return {}
    settings = _HARMLESS | _without_filters(git, root)
    found: dict[str, str] = {}
    for command in _COMMANDS:
        words = _asked(git, command, root, settings)
        for letter, path in zip(words[::2], words[1::2], strict=False):
            # Both lists may name a file; being new in the index outweighs a change after that.
            if letter[:1] in "MADUT" and found.get(path) != "A":
                found[path] = letter[:1].replace("T", "M")
    found |= dict.fromkeys(_asked(git, _NEW, root, settings), "?")
    return found


def _without_filters(git: str, root: Path) -> dict[str, str]:
    """Return the settings that turn off every filter of the repository."""
    keys = _asked(git, _FILTERS, root, _HARMLESS)
    names = {key.partition(".")[2].rpartition(".")[0] for key in keys}
    return {f"filter.{name}.{part}": off for name in names for part, off in _NO_FILTER.items()}


def _asked(
    git: str, command: tuple[str, ...], root: Path, settings: Mapping[str, str]
) -> list[str]:
    """Return the words that git prints, none if it fails; paths are relative to *root*."""
    try:
        answer = ask_program(
            [git, *command], folder=root, environment=_environment(settings), seconds=_SECONDS
        )
    except (OSError, TooSlow):
        return []
    return [] if answer.code else os.fsdecode(answer.output).split("\0")[:-1]


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return git's environment, *settings* in it: there a name may hold any character."""
    environment = {
        "PATH": os.defpath,
        "HOME": str(Path.home()),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (name, value) in enumerate(settings.items()):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment
