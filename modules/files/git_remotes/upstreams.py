"""Upstreams: the branch of a remote that a branch follows.

What is written is a remote that the repository has, and the name of a branch there: git runs
neither, and goes to no other place for them.
"""

from __future__ import annotations

import re
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit
from modules.files.git.state_names import is_ref_name
from modules.files.git_remotes.config_file import (
    ConfigChanges,
    ConfigValues,
    changed_names,
    config_values,
)

_KEY = re.compile(r"branch\.(?P<branch>.+)\.(?:remote|merge)", re.DOTALL)
_REMOTE = re.compile(r"remote\.(?P<remote>[^\0\n]+)\.url")
_THIS = "."  # git's name for the repository itself


def changed_upstreams(old: ConfigValues, new: ConfigValues) -> ConfigChanges:
    """Return what *new* says otherwise than *old* of upstreams, without what may not be."""
    matches = map(_KEY.fullmatch, changed_names(old, new))
    remotes = {match["remote"] for key in old if (match := _REMOTE.fullmatch(key))}
    found = {match["branch"]: _upstream(new, match["branch"]) for match in matches if match}
    changes: dict[str, str | None] = {}
    for branch, pair in found.items():
        if _is_allowed(branch, pair, remotes):
            changes |= upstream_changes(branch, pair)
    return changes


def upstream_changes(branch: str, upstream: tuple[str, str] | None) -> ConfigChanges:
    """Return what has *branch* follow *upstream*, a remote and the ref there; None is nothing."""
    remote, ref = upstream or (None, None)
    return {f"branch.{branch}.remote": remote, f"branch.{branch}.merge": ref}


def has_upstream(git: IsolatedGit, config: Path, branch: str) -> bool:
    return _upstream(config_values(git, config), branch) not in (None, ("", ""))


def upstream_of(git: IsolatedGit, config: Path, branch: str) -> str:
    """Return the ref here for what *branch* follows by the file *config*, "" for nothing.

    Raises `OSError` if git cannot read it.
    """
    remote, merge = _upstream(config_values(git, config), branch) or ("", "")
    if remote == _THIS:
        return merge
    found = f"refs/remotes/{remote}/{merge.removeprefix('refs/heads/')}"
    return found if remote and merge.startswith("refs/heads/") and is_ref_name(found) else ""


def _upstream(values: ConfigValues, branch: str) -> tuple[str, str] | None:
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
