"""The log for the person: page by page, and one commit in full."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.tools import ToolError
from modules.files.git.git_runs import GitRuns
from modules.files.git_remotes.branches import commit_of
from utils.i18n import phrase
from utils.text.clean import clean, visible

PAGE = 50
"""Commits of a page of the log."""
MAX_MESSAGE = 20_000  # characters
_LINE = "%H%x00%P%x00%an%x00%at%x00%s%x00%D%x00"
_FIELDS = 6
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: *when* in seconds since the epoch, *names* are the branches and tags at it."""

    id: str
    parents: tuple[str, ...]
    author: str
    when: int
    subject: str
    names: tuple[str, ...] = ()


def log_page(git: GitRuns, skip: int, count: int = PAGE) -> tuple[list[Commit], bool]:
    """Return *count* commits of HEAD after the first *skip*, and whether there are more.

    The newest come first. Before the first commit there are none.
    """
    if not commit_of(git, "HEAD"):
        return [], False
    options = ("-z", "--no-show-signature", "--no-color", f"--format={_LINE}")
    bounds = (f"--skip={skip}", f"--max-count={count + 1}")
    output = git.run("log", *options, *bounds, "--decorate=short", "HEAD", "--")
    words = output.decode("utf-8", "replace").split("\0")
    size = _FIELDS + 1  # a NUL ends each commit as well
    rows = [words[at : at + _FIELDS] for at in range(0, len(words) - _FIELDS + 1, size)]
    return [_commit(row) for row in rows[:count]], len(rows) > count


def message_of(git: GitRuns, commit: str) -> str:
    """Return the whole message of *commit*."""
    said = git.run("log", "--max-count=1", "--no-show-signature", "--format=%B", commit, "--")
    return clean(said.decode("utf-8", "replace")).strip()[:MAX_MESSAGE]


def checked_commit(git: GitRuns, name: str) -> str:
    """Return the whole id of the commit that begins with *name*. Raises `ToolError`."""
    found = commit_of(git, name) if _COMMIT.fullmatch(name) else ""
    if not found:
        raise ToolError(phrase("There is no commit {name}.", name=visible(name)[:80]))
    return found


def _commit(row: list[str]) -> Commit:
    object_id, parents, author, when, subject, names = row
    told = tuple(visible(one) for one in names.split(", ") if one)
    return Commit(
        object_id.strip(), tuple(parents.split()), visible(author), int(when or 0),
        visible(subject), told,
    )  # fmt: skip
