"""Asking git about a folder.

A repository is foreign data: nothing in its configuration may start a program, or lead git to
another folder than the one it stands in.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from utils.child import TooSlow, ask_program
from utils.programs import system_program

HARMLESS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "safe.bareRepository": "explicit",
    "protocol.allow": "never",
}
PROGRAMS = ("config", "-z", "--name-only", "--get-regexp", r"^(filter|hook)\.")
"""What asks git for the keys that name programs; `without_programs` wants them."""
_SWITCHED_OFF = {
    "filter": {"clean": "", "smudge": "", "process": "", "required": "false"},
    "hook": {"enabled": "false"},
}


def without_programs(keys: Iterable[str]) -> dict[str, str]:
    """Return settings that switch off every filter and hook that the *keys* of others name.

    Even to look for changes git runs the filters, and settings may include a project's file.
    """
    named = dict.fromkeys(key.rpartition(".")[0] for key in keys if key)
    return {
        f"{name}.{option}": value
        for name in named
        for option, value in _SWITCHED_OFF[name.partition(".")[0]].items()
    }


def as_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return what gives git *settings* by its environment: there a name may hold any character."""
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        numbered[f"GIT_CONFIG_KEY_{number}"] = name
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return numbered


def work_tree(folder: Path) -> Path | None:
    """Return the folder of the repository that *folder* is in; None if it is in none."""
    for above in (folder, *folder.parents):
        git = above / ".git"
        if git.is_file() or os.path.lexists(git / "HEAD"):
            return above
    return None


def ask_git(
    arguments: Sequence[str],
    *,
    folder: Path,
    tree: Path,
    seconds: float,
    settings: Mapping[str, str] = HARMLESS,
) -> list[str] | None:
    """Return the NUL-ended words that git prints in *folder* of the work tree *tree*.

    None when git is missing, slow or refuses. The person's own ignore file counts.
    """
    git = system_program("git")
    if git is None:
        return None
    tree = tree.absolute()
    place = {"GIT_WORK_TREE": str(tree), "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    try:
        answer = ask_program(
            [git, *arguments],
            folder=folder,
            environment=_environment(settings) | place,
            seconds=seconds,
        )
    except (OSError, TooSlow):
        return None
    return None if answer.code else os.fsdecode(answer.output).split("\0")[:-1]


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "HOME": str(Path.home()),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "none",  # what a repository allows by name counts more than `never`
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        **as_environment(settings),
    }
