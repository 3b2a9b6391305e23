"""Config of git for our runs: plain values of the repository's and of the person's.

For runs in a repository only the keys named here count. None of them names a program, and of the
repository's none names a place; what it includes does not count. Over the network, where there is
no repository but one of ours, all that is the person's own counts (`transport_config`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from modules.files.git.git_guard import GitFolders
from modules.files.git.person_identity import identity
from utils.system.child import TimedOut, run_program

_ALLOWED_KEYS = frozenset(
    {
        *("core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.symlinks"),
        *("core.ignorecase", "core.precomposeunicode"),
        *("core.trustctime", "core.checkstat", "core.sparsecheckout", "core.sparsecheckoutcone"),
        *("core.sharedrepository", "core.logallrefupdates", "core.repositoryformatversion"),
    }
)
_PERSON_KEYS = ("core.autocrlf", "core.eol", "core.safecrlf")
"""How files are read and written, of the person's own: also for programs in the sandbox."""
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
_REPOSITORY_SECTIONS = frozenset(
    {
        *("include", "includeif", "alias", "remote", "branch", "submodule", "extensions"),
        *("fetch", "push", "receive", "uploadpack", "transfer", "gc", "maintenance", "trace2"),
    }
)
_REPOSITORY_KEYS = frozenset({"core.worktree", "core.repositoryformatversion"})
_TRANSPORT_OVERRIDES = {
    **{"core.bare": "true", "core.hookspath": "/dev/null", "core.fsmonitor": "false"},
    "core.alternaterefscommand": "true",  # it would else run in the project's repository
    **{"fetch.unpacklimit": "1", "transfer.unpacklimit": "1"},  # objects come as packs
    **{"fetch.recursesubmodules": "false", "push.recursesubmodules": "no"},
    **{"push.gpgsign": "false", "gc.auto": "0", "maintenance.auto": "false"},
    **{"lfs.storage": "lfs", "lfs.allowincompletepush": "false"},  # in the repository itself
    **{"credential.interactive": "false", "protocol.ext.allow": "never"},
}


@dataclass(frozen=True, slots=True)
class GitConfig:
    """*values* are values by key; *name* and *email* are the person's, "" if not known.

    *remotes* is what the repository says of its remotes, by key: claims, which git does not read.
    *default_branch* is the person's name for the first branch of a repository; *hooks_path* is
    where this one has its hooks, if elsewhere than usual. *rules* is what the person's own settings
    say of line ends, and their files of what to ignore and of attributes, by key.
    """

    values: tuple[tuple[str, str], ...] = ()
    name: str = ""
    email: str = ""
    remotes: tuple[tuple[str, str], ...] = ()
    default_branch: str = ""
    hooks_path: str = ""
    rules: tuple[tuple[str, str], ...] = ()


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
    files = dict(_rule_files(person))
    values |= files
    line_ends = {key: person[key] for key in _PERSON_KEYS if key in person}
    rules = {key: value for key, value in line_ends.items() if _is_allowed(key, value)} | files
    name, email = identity()
    return GitConfig(
        tuple(values.items()),
        name or merged.get("user.name", "").strip(),
        email or merged.get("user.email", "").strip(),
        tuple(item for item in repository.items() if item[0].startswith("remote.")),
        person.get("init.defaultbranch", "").strip(),
        repository.get("core.hookspath", ""),
        tuple(rules.items()),
    )


def transport_config(program: str, folders: GitFolders, common_dir: Path) -> str:
    """Return a config for a bare repository of ours that talks to others as the person would.

    It holds the person's own settings, with the machine's (credentials, proxies, certificates,
    addresses by other names), without those that are about a repository.
    """
    ask = partial(_list_values, program, folders, common_dir)
    own = [*ask("--system", "--includes"), *ask("--global", "--includes")]
    kept = [(key, value) for key, value in own if key.partition(".")[0] not in _REPOSITORY_SECTIONS
            and key not in _REPOSITORY_KEYS]  # fmt: skip
    values = dict(read_config(program, folders, common_dir).values)
    if "extensions.objectformat" in values:
        kept += [("core.repositoryformatversion", "1")]
        kept += [("extensions.objectformat", values["extensions.objectformat"])]
    return _format_config([*kept, *_TRANSPORT_OVERRIDES.items()])


def _read_values(
    program: str, folders: GitFolders, common_dir: Path, *source: str
) -> dict[str, str]:
    """Return the last value of each key in *source*, section and name in small letters."""
    return dict(_list_values(program, folders, common_dir, *source))


def _list_values(
    program: str, folders: GitFolders, common_dir: Path, *source: str
) -> list[tuple[str, str]]:
    """Return the keys and values in *source* in their order."""
    environment = {
        **{"PATH": os.defpath, "LC_ALL": "C", "HOME": os.fspath(Path.home())},
        **{"GIT_COMMON_DIR": os.fspath(common_dir)},
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
        return []
    words = (word.partition("\n") for word in os.fsdecode(answer.output).split("\0")[:-1])
    return [(key, value if has_value else "true") for key, has_value, value in words]


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
    return _format_config({**dict(config.values), **_OVERRIDES}.items())


def _format_config(values: Iterable[tuple[str, str]]) -> str:
    lines = []
    for key, value in values:
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        title = f"{section} {_quoted(subsection)}" if subsection else section
        lines.append(f"[{title}]\n\t{name} = {_quoted(value)}\n")
    return "".join(lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
