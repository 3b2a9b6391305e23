"""Branches for the person: listed, made, and switched to where no work would be lost."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from core.cards import Change
from core.tools import ToolError
from modules.files.git.commit_selection import refuse_filters
from modules.files.git.common_dir import read_regular_file
from modules.files.git.git_runs import GitRuns
from modules.files.git.staging import identity_variables, refuse_links
from modules.files.git_remotes.branches import checked_branch, commit_of, tree_changes
from modules.git.person.status import branch_of, conflicting, under_way
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.lines import first_names

MAX_BRANCHES = 500
_FORMAT = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)"
_IN_THE_WAY = re.compile(
    rb"(?:Entry|Untracked working tree file) '(.+)' (?:not uptodate|would be overwritten|"
    rb"would be removed|would be updated)"
)


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch, at *commit* of the time *when*, seconds since the epoch."""

    name: str
    shown: str
    commit: str
    when: int
    subject: str
    is_current: bool


def list_branches(git: GitRuns) -> list[Branch]:
    """Return the branches, the one with the newest commit first."""
    options = ("--sort=-committerdate", f"--count={MAX_BRANCHES}", f"--format={_FORMAT}")
    current = branch_of(git)
    rows = git.run("for-each-ref", *options, "refs/heads").split(b"\n")[:-1]
    found = []
    for row in rows:
        ref, commit, when, subject = row.split(b"\0", 3)
        name = os.fsdecode(ref).removeprefix("refs/heads/")
        told = visible(subject.decode("utf-8", "replace"))
        seconds = int(when or 0)
        found.append(Branch(name, visible(name), commit.decode(), seconds, told, name == current))
    return found


def check_new_branch(git: GitRuns, name: str) -> None:
    """Raise `ToolError` where the branch *name* cannot be made."""
    if commit_of(git, f"refs/heads/{checked_branch(name)}"):
        raise ToolError(phrase("The branch {name} exists already.", name=visible(name)))
    _refuse_under_way(git)
    refuse_links(git, [f"refs/heads/{name}"])


def create_branch(git: GitRuns, name: str) -> None:
    """Make the branch *name* where HEAD is, and go over to it; no file is touched.

    Raises `ToolError`.
    """
    refuse_links(git, [f"refs/heads/{name}"])
    head, current = commit_of(git, "HEAD"), branch_of(git)
    if head:
        git.run("update-ref", "-m", f"branch: Created from {current or head[:10]}",
                f"refs/heads/{name}", head, "0" * len(head))  # fmt: skip
    _point_to(git, name, current or head[:10], writes_log=bool(head))


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch to the branch *name*, at the commit *target*; *changes* is what files become."""

    name: str
    before: str
    head: str
    target: str
    changes: tuple[Change, ...]

    def run(self, git: GitRuns) -> None:
        """Do it. Raises `ToolError`; then nothing is changed."""
        refuse_links(git, [f"refs/heads/{self.name}"])
        _read_tree(git, self.head, self.target)
        _point_to(git, self.name, self.before, writes_log=True)


def plan_switch(git: GitRuns, name: str) -> Switch:
    """Return how to go over to the branch *name*.

    Raises `ToolError` where something stands in the way, and where changes would be lost.
    """
    name, head, current = checked_branch(name), commit_of(git, "HEAD"), branch_of(git)
    target = commit_of(git, f"refs/heads/{name}")
    if not target:
        raise ToolError(phrase("There is no branch {name}.", name=visible(name)))
    if name == current:
        raise ToolError(phrase("You are on {name} already.", name=visible(name)))
    if _is_elsewhere(git, name):
        raise ToolError(phrase("{name} is checked out in another work tree.", name=visible(name)))
    _refuse_under_way(git)
    refuse_links(git, [f"refs/heads/{name}"])
    changes = tree_changes(git, head, target)
    refuse_filters(git, [os.fsencode(change.path) for change in changes])
    git.succeeds("update-index", "-q", "--refresh")
    _read_tree(git, head, target, "--dry-run")
    return Switch(name, current or head[:10], head, target, changes)


def _is_elsewhere(git: GitRuns, name: str) -> bool:
    """Return whether another work tree of the repository has the branch *name*."""
    folders = git.git.folders
    trees = [folders.common_dir, *(folders.common_dir / "worktrees").glob("*")]
    heads = (read_regular_file(tree / "HEAD").strip() for tree in trees if tree != folders.git_dir)
    return f"ref: refs/heads/{name}".encode("utf-8", "surrogateescape") in heads


def _read_tree(git: GitRuns, head: str, target: str, *options: str) -> None:
    """Bring the index and the files from *head* to *target*, or change nothing."""
    trees = [head, target] if head else [target]
    answer = git.git.run("read-tree", "-m", "-u", *options, *trees)
    if not answer.code:
        return
    names = [visible(os.fsdecode(name)) for name in _IN_THE_WAY.findall(answer.errors)]
    if names:
        message = phrase(
            "Switching would lose changes in {names}. Commit, stash or discard them first.",
            names=first_names(list(dict.fromkeys(names))),
        )
        raise ToolError(message)
    said = answer.errors.decode(errors="replace").strip()
    raise ToolError(phrase("git refused: {said}", said=visible(said)[:1_000] or "?"))


def _point_to(git: GitRuns, name: str, before: str, *, writes_log: bool) -> None:
    words = ("-m", f"checkout: moving from {before} to {name}") if writes_log else ()
    person = git.with_variables(_identity(git))
    person.run("symbolic-ref", *words, "HEAD", f"refs/heads/{name}")


def _identity(git: GitRuns) -> dict[str, str]:
    """Return the person for the log of HEAD; none is needed to switch."""
    try:
        return identity_variables(git)
    except ToolError:
        return {"GIT_COMMITTER_NAME": "unknown", "GIT_COMMITTER_EMAIL": "unknown"}


def _refuse_under_way(git: GitRuns) -> None:
    if conflicting(git):
        raise ToolError(phrase("Some files have conflicts. Resolve them first."))
    if what := under_way(git):
        raise ToolError(phrase("A {what} is in progress. Finish or abort it first.", what=what))
