"""Branches: their names, moving one on to what a remote has, and a repository with none yet."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from core.cards import Change
from core.tools import ToolError
from modules.files.git.git_runs import GitRuns
from modules.files.git.staging import refuse_links
from utils.i18n import phrase
from utils.text.clean import visible

_BRANCH = re.compile(r"(?!-)[^\x00-\x20\"~^:?*\[\\\x7f]{1,200}")
_KINDS: Mapping[bytes, Literal["created", "deleted"]] = {b"A": "created", b"D": "deleted"}
_NEW_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[remote "origin"]
\turl = {url}
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""


def make_repository(tree: Path, url: str) -> None:
    """Make an empty repository in the new folder *tree*, with *url* as its remote."""
    git = tree / ".git"
    for folder in ("objects/pack", "refs/heads", "logs"):
        (git / folder).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    escaped = url.replace("\\", "\\\\").replace('"', '\\"')
    (git / "config").write_text(_NEW_CONFIG.format(url=f'"{escaped}"'))


def follow(tree: Path, branch: str) -> None:
    """Have *branch* of the new repository in *tree* follow the one of its remote."""
    with (tree / ".git/config").open("a") as config:
        config.write(f'[branch "{branch}"]\n\tremote = origin\n\tmerge = refs/heads/{branch}\n')


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
) -> tuple[str, tuple[Change, ...]]:
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
        counts = git.run("rev-list", "--left-right", "--count", f"{old}...{new}").split()
        ahead, behind = map(int, counts)
        if not behind:
            return "Already up to date.", ()
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
    changes = _changes(git, old, new)
    refuse([change.path for change in changes])
    git.succeeds("update-index", "-q", "--refresh")
    git.run("read-tree", "-m", "-u", *([old] if old else []), new)
    git.run(
        "update-ref", "-m", "pull: Fast-forward", f"refs/heads/{branch}", new, old or "0" * len(new)
    )
    return f"{branch} is at {new[:10]} now.{_lfs_remark(git)}", changes


def _changes(git: GitRuns, old: str, new: str) -> tuple[Change, ...]:
    """Return what the files of the commit *new* are to those of *old*, "" for none."""
    before = old or git.run("hash-object", "-t", "tree", "--stdin").decode().strip()
    options = ("-r", "-z", "--no-renames", "--name-status")
    words = git.split_output("diff-tree", *options, before, new)
    return tuple(
        Change(_KINDS.get(letter, "modified"), os.fsdecode(name))
        for letter, name in zip(words[::2], words[1::2], strict=True)
    )


def _lfs_remark(git: GitRuns) -> str:
    rules = git.split_output(
        "grep", "--cached", "-z", "-l", "filter=lfs", "--", ".gitattributes", may_fail=True
    )
    return " Files in git LFS came as pointers: git lfs pull is the person's part." if rules else ""
