"""Upstreams: the branch of a remote that a branch follows, the one setting a program may change.

What is written is a remote that the repository has, and the name of a branch there: git runs
neither, and goes to no other place for them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit
from modules.files.git.state_names import is_ref_name

_KEY = re.compile(r"branch\.(?P<branch>.+)\.(?P<name>remote|merge)", re.DOTALL)
_REMOTE = re.compile(r"remote\.(?P<remote>[^\0\n]+)\.url")
_THIS = "."  # git's name for the repository itself

Upstreams = Mapping[str, tuple[str, str] | None]
"""By branch its remote, and the ref there; None where it follows nothing."""


def changed_upstreams(git: IsolatedGit, before: Path, after: Path) -> tuple[Upstreams, bool]:
    """Return what the config file *after* says otherwise than *before*, and whether that is all.

    What may not be written is left out, and is not all then, as of a file that git cannot read.
    Neither includes anything. Raises `OSError`.
    """
    old = _values(git, before)
    try:
        new = _values(git, after)
    except OSError:
        return {}, False
    branches = {
        match["branch"]
        for key in old.keys() | new.keys()
        if (match := _KEY.fullmatch(key)) and old.get(key) != new.get(key)
    }
    remotes = {match["remote"] for key in old if (match := _REMOTE.fullmatch(key))}
    found = {branch: _upstream(new, branch) for branch in branches}
    allowed = {branch: pair for branch, pair in found.items() if _is_allowed(branch, pair, remotes)}
    return allowed, len(allowed) == len(found) and _others(old) == _others(new)


def write_upstreams(git: IsolatedGit, config: Path, upstreams: Upstreams) -> None:
    """Write *upstreams* into the file *config*. Raises `OSError` if git cannot."""
    for branch, pair in sorted(upstreams.items()):
        for name, value in zip(("remote", "merge"), pair or (None, None), strict=True):
            how = ("--unset-all",) if value is None else ("--replace-all",)
            words = (f"branch.{branch}.{name}", *([] if value is None else [value]))
            answer = git.run("config", "--file", os.fspath(config), *how, *words)
            if answer.code and value is not None:
                raise OSError(answer.errors.decode(errors="replace").strip()[:300])


def has_upstream(git: IsolatedGit, config: Path, branch: str) -> bool:
    return _upstream(_values(git, config), branch) not in (None, ("", ""))


def upstream_of(git: IsolatedGit, config: Path, branch: str) -> str:
    """Return the ref here for what *branch* follows by the file *config*, "" for nothing.

    Raises `OSError` if git cannot read it.
    """
    remote, merge = _upstream(_values(git, config), branch) or ("", "")
    if remote == _THIS:
        return merge
    found = f"refs/remotes/{remote}/{merge.removeprefix('refs/heads/')}"
    return found if remote and merge.startswith("refs/heads/") and is_ref_name(found) else ""


def _values(git: IsolatedGit, config: Path) -> dict[str, tuple[str, ...]]:
    """Return the values of each key of the file *config*. Raises `OSError` if git cannot."""
    answer = git.run("config", "--file", os.fspath(config), "--no-includes", "-z", "--list")
    if answer.code:
        raise OSError(answer.errors.decode(errors="replace").strip()[:300])
    values: dict[str, tuple[str, ...]] = {}
    for word in os.fsdecode(answer.output).split("\0")[:-1]:
        key, _, value = word.partition("\n")
        values[key] = (*values.get(key, ()), value)
    return values


def _upstream(values: Mapping[str, tuple[str, ...]], branch: str) -> tuple[str, str] | None:
    remote, merge = (values.get(f"branch.{branch}.{name}", ()) for name in ("remote", "merge"))
    if not remote and not merge:
        return None
    return (remote[0], merge[0]) if len(remote) == len(merge) == 1 else ("", "")


def _is_allowed(branch: str, pair: tuple[str, str] | None, remotes: set[str]) -> bool:
    if not is_ref_name(f"refs/heads/{branch}"):
        return False
    if pair is None:
        return True
    remote, merge = pair
    is_known = remote == _THIS or remote in remotes
    return is_known and merge.startswith("refs/heads/") and is_ref_name(merge)


def _others(values: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {key: value for key, value in values.items() if not _KEY.fullmatch(key)}
