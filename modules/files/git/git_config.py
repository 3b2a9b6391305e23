"""Config of git for our runs: plain values of the repository's and of the person's.

Of all config only the keys named here count. None of them names a program, and of the
repository's none names a place; what it includes does not count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from modules.files.git.git_guard import GitFolders
from utils.system.child import TimedOut, run_program

_ALLOWED_KEYS = frozenset(
    {
        *("core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.symlinks"),
        *("core.ignorecase", "core.precomposeunicode"),
        *("core.trustctime", "core.checkstat", "core.sparsecheckout", "core.sparsecheckoutcone"),
        *("core.sharedrepository", "core.logallrefupdates", "core.repositoryformatversion"),
    }
)
_RULE_FILES = {"core.excludesfile": "ignore", "core.attributesfile": "attributes"}
"""Files of rules that the person's own settings may name, and git's names for them else."""
_REFUSED_KEYS = frozenset({"extensions.partialclone", "extensions.worktreeconfig"})
_VALUE = re.compile(r"[\w.:+-]{0,100}")
_SECONDS = 10.0
_OVERRIDES = {
    "core.bare": "false",
    "core.hookspath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedcache": "false",
    "core.quotepath": "false",
    "commit.gpgsign": "false",
    "submodule.recurse": "false",
    "maintenance.auto": "false",
    "gc.auto": "0",
    "protocol.allow": "never",
}
"""Mostly the defaults of git; set in case that these change."""


@dataclass(frozen=True, slots=True)
class GitConfig:
    """*values* are values by key; *name* and *email* are the person's, "" if not known."""

    values: tuple[tuple[str, str], ...] = ()
    name: str = ""
    email: str = ""


def config_files(folders: GitFolders) -> tuple[Path, ...]:
    """Return the files that `read_config` reads for the repository in *folders*."""
    home = Path.home()
    return (*_repository_config_files(folders), home / ".gitconfig", home / ".config/git/config")


def _repository_config_files(folders: GitFolders) -> tuple[Path, Path]:
    return folders.common_dir / "config", folders.git_dir / "config.worktree"


def read_config(program: str, folders: GitFolders, common_dir: Path) -> GitConfig:
    """Return the settings for the repository in *folders*; those that cannot be read do not count.

    *common_dir* is what git takes for the common folder meanwhile.
    """
    ask = partial(_read_values, program, folders, common_dir)
    person, repository = ask("--global", "--includes"), dict[str, str]()
    for path in filter(Path.is_file, _repository_config_files(folders)):
        repository |= ask("--file", os.fspath(path), "--no-includes")
    merged = person | repository
    values = {key: value for key, value in merged.items() if _is_allowed(key, value)}
    values |= dict(_rule_files(person))
    return GitConfig(
        tuple(values.items()),
        merged.get("user.name", "").strip(),
        merged.get("user.email", "").strip(),
    )


def _read_values(
    program: str, folders: GitFolders, common_dir: Path, *source: str
) -> dict[str, str]:
    """Return the last value of each key in *source*, section and name in small letters."""
    environment = {
        **{"PATH": os.defpath, "LC_ALL": "C", "HOME": os.fspath(Path.home())},
        **{"GIT_CONFIG_NOSYSTEM": "1", "GIT_COMMON_DIR": os.fspath(common_dir)},
        "GIT_DIR": os.fspath(folders.git_dir),  # "includeIf gitdir:" asks where we are
    }
    try:
        answer = run_program(
            [program, "config", *source, "-z", "--list"],
            folder=common_dir,
            environment=environment,
            seconds=_SECONDS,
        )
    except (OSError, TimedOut):
        return {}
    words = (word.partition("\n") for word in os.fsdecode(answer.output).split("\0")[:-1])
    return {key: value if has_value else "true" for key, has_value, value in words}


def _is_allowed(key: str, value: str) -> bool:
    if not (key in _ALLOWED_KEYS or (key.startswith("extensions.") and key not in _REFUSED_KEYS)):
        return False
    return _VALUE.fullmatch(value) is not None


def _rule_files(person: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, name in _RULE_FILES.items():
        named = person.get(key, f"~/.config/git/{name}")
        path = Path.home() / named[2:] if named.startswith("~/") else Path(named)
        if path.is_file():
            yield key, os.fspath(path)


def config_text(config: GitConfig) -> str:
    """Return the text of a file of settings that holds the plain ones and ours."""
    lines = []
    for key, value in {**dict(config.values), **_OVERRIDES}.items():
        section, _, name = key.partition(".")
        text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'[{section}]\n\t{name} = "{text}"\n')
    return "".join(lines)
