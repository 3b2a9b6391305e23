"""The settings that git keeps for us: plain values of the repository's and of the person's.

Of all that stands there only what is named here counts. None of it names a program, and of the
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
from utils.system.child import TooSlow, ask_program

_PLAIN = frozenset(
    {
        *("core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.symlinks"),
        *("core.ignorecase", "core.precomposeunicode"),
        *("core.trustctime", "core.checkstat", "core.sparsecheckout", "core.sparsecheckoutcone"),
        *("core.sharedrepository", "core.logallrefupdates", "core.repositoryformatversion"),
    }
)
_PLACES = {"core.excludesfile": "ignore", "core.attributesfile": "attributes"}
"""Files of rules that the person's own settings may name, and git's names for them else."""
_NOT_OURS = frozenset({"extensions.partialclone", "extensions.worktreeconfig"})
_VALUE = re.compile(r"[\w.:+-]{0,100}")
_SECONDS = 10.0
_OURS = {
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
"""Mostly what git does anyway where no setting says else; said in case that changes."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """*plain* are values by key; *name* and *email* are the person's, "" if not known."""

    plain: tuple[tuple[str, str], ...] = ()
    name: str = ""
    email: str = ""


def settings_files(folders: GitFolders) -> tuple[Path, ...]:
    """Return the files that `read_settings` reads for the repository in *folders*."""
    home = Path.home()
    return (*_own_files(folders), home / ".gitconfig", home / ".config/git/config")


def _own_files(folders: GitFolders) -> tuple[Path, Path]:
    return folders.common / "config", folders.own / "config.worktree"


def read_settings(program: str, folders: GitFolders, common_dir: Path) -> GitSettings:
    """Return the settings for the repository in *folders*; those that cannot be read do not count.

    *common_dir* is what git takes for the common folder meanwhile.
    """
    ask = partial(_pairs, program, folders, common_dir)
    person, own = ask("--global", "--includes"), dict[str, str]()
    for path in filter(Path.is_file, _own_files(folders)):
        own |= ask("--file", os.fspath(path), "--no-includes")
    both = person | own
    plain = {key: value for key, value in both.items() if _is_plain(key, value)}
    plain |= dict(_places(person))
    return GitSettings(
        tuple(plain.items()), both.get("user.name", "").strip(), both.get("user.email", "").strip()
    )


def _pairs(program: str, folders: GitFolders, common_dir: Path, *source: str) -> dict[str, str]:
    """Return the last value of each key in *source*, section and name in small letters."""
    environment = {
        **{"PATH": os.defpath, "LC_ALL": "C", "HOME": os.fspath(Path.home())},
        **{"GIT_CONFIG_NOSYSTEM": "1", "GIT_COMMON_DIR": os.fspath(common_dir)},
        "GIT_DIR": os.fspath(folders.own),  # "includeIf gitdir:" asks where we are
    }
    try:
        answer = ask_program(
            [program, "config", *source, "-z", "--list"],
            folder=common_dir,
            environment=environment,
            seconds=_SECONDS,
        )
    except (OSError, TooSlow):
        return {}
    words = (word.partition("\n") for word in os.fsdecode(answer.output).split("\0")[:-1])
    return {key: value if has_value else "true" for key, has_value, value in words}


def _is_plain(key: str, value: str) -> bool:
    if not (key in _PLAIN or (key.startswith("extensions.") and key not in _NOT_OURS)):
        return False
    return _VALUE.fullmatch(value) is not None


def _places(person: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, name in _PLACES.items():
        place = person.get(key, f"~/.config/git/{name}")
        path = Path.home() / place[2:] if place.startswith("~/") else Path(place)
        if path.is_file():
            yield key, os.fspath(path)


def as_config(settings: GitSettings) -> str:
    """Return the text of a file of settings that holds the plain ones and ours."""
    lines = []
    for key, value in {**dict(settings.plain), **_OURS}.items():
        section, _, name = key.partition(".")
        text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'[{section}]\n\t{name} = "{text}"\n')
    return "".join(lines)
