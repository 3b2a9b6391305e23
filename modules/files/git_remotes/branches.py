"""Branches: their names, and moving one on to what a remote has."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from core.cards import Change
from core.tools import ToolError
from modules.files.git.git_runs import GitRuns
from modules.files.git.staging import refuse_links
from utils.i18n import Text, phrase
from utils.text.clean import visible

_BRANCH = re.compile(r"(?!-)[^\x00-\x20\"~^:?*\[\\\x7f]{1,200}")
_KINDS: Mapping[bytes, Literal["created", "deleted"]] = {b"A": "created", b"D": "deleted"}


def commit_of(git: GitRuns, name: str) -> str:
    """Return the commit that *name* leads to, "" if there is none."""
    found = git.split_output("rev-parse", "-q", "--verify", f"{name}^{{commit}}",
                             may_fail=True, end=b"\n")  # fmt: skip
    return found[0].decode() if found else ""


def current_branch(git: GitRuns) -> str:
    named = git.split_output("symbolic-ref", "--quiet", "HEAD", may_fail=True, end=b"\n")
    if not named:
        raise ToolError(phrase("HEAD is on no branch; switch to one, or name one in branch."))
    return os.fsdecode(named[0]).removeprefix("refs/heads/")


def checked_branch(name: str) -> str:
    is_odd = ".." in name or name.endswith((".lock", "/", ".")) or "@{" in name
    if is_odd or not _BRANCH.fullmatch(name):
        raise ToolError(phrase("{name!r} is no name of a branch.", name=visible(name)))
    return name


def fast_forward(
    git: GitRuns, branch: str, upstream: str, refuse: Callable[[Sequence[str]], None]
) -> tuple[Text, tuple[Change, ...]]:
    """Move *branch*, which is checked out, on to *upstream*, if that only adds to it.

    *refuse* is told the names of the files first. Returns what was done, in words, and to which
    files. Raises `ToolError`.
    """
    new, old = commit_of(git, upstream), commit_of(git, "HEAD")
    if not new:
        raise ToolError(
            phrase("The remote has no branch {name!r}.", name=upstream.split("/", 3)[3])
        )
    refuse_links(git)
    if old:
        counts = git.run("rev-list", "--left-right", "--count", f"{old}...{new}", "--").split()
        ahead, behind = map(int, counts)
        if not behind:
            return phrase("Already up to date."), ()
        if ahead:
            message = phrase(
                "{branch} has {ahead} commits that {upstream} lacks, and lacks {behind} of it: it "
                "was fetched, and merging is left to you.",
                branch=branch,
                ahead=ahead,
                behind=behind,
                upstream=upstream.removeprefix("refs/remotes/"),
            )
            raise ToolError(message)
    changes = tree_changes(git, old, new)
    refuse([change.path for change in changes])
    git.succeeds("update-index", "-q", "--refresh")
    git.run("read-tree", "-m", "-u", *([old] if old else []), new)
    git.run(
        "update-ref", "-m", "pull: Fast-forward", f"refs/heads/{branch}", new, old or "0" * len(new)
    )
    told = phrase("{branch} is at {commit} now.", branch=branch, commit=new[:10])
    return told, changes


def tree_changes(git: GitRuns, old: str, new: str) -> tuple[Change, ...]:
    """Return what the files of the commit *new* are to those of *old*, "" for none."""
    before = old or git.run("hash-object", "-t", "tree", "--stdin").decode().strip()
    options = ("-r", "-z", "--no-renames", "--name-status")
    words = git.split_output("diff-tree", *options, before, new, "--")
    return tuple(
        Change(_KINDS.get(letter, "modified"), os.fsdecode(name))
        for letter, name in zip(words[::2], words[1::2], strict=True)
    )
