"""Config files of git, read and written by git itself, without what they include."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit

ConfigValues = Mapping[str, tuple[str, ...]]
"""The values of each key of a config file, in their order."""
ConfigChanges = Mapping[str, str | None]
"""The one value that each key is to have; None: it is to have none."""


def config_values(git: IsolatedGit, path: Path) -> ConfigValues:
    """Return the values of each key of the file *path*. Raises `OSError` if git cannot read it."""
    answer = git.run("config", "--file", os.fspath(path), "--no-includes", "-z", "--list")
    if answer.code:
        raise OSError(answer.errors.decode(errors="replace").strip()[:300])
    values: dict[str, tuple[str, ...]] = {}
    for word in os.fsdecode(answer.output).split("\0")[:-1]:
        key, _, value = word.partition("\n")
        values[key] = (*values.get(key, ()), value)
    return values


def write_config(git: IsolatedGit, path: Path, changes: ConfigChanges) -> None:
    """Make *changes* in the file *path*, one after the other. Raises `OSError` if git cannot."""
    for key, value in changes.items():
        words = ("--unset-all", key) if value is None else ("--replace-all", key, value)
        answer = git.run("config", "--file", os.fspath(path), *words)
        if answer.code and value is not None:
            raise OSError(answer.errors.decode(errors="replace").strip()[:300])


def changed_names(old: ConfigValues, new: ConfigValues) -> set[str]:
    """Return the keys of which *old* and *new* have other values."""
    return {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
