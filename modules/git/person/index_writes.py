"""What the person does to the index and to their files: stage, unstage, discard."""

from __future__ import annotations

import os
from collections.abc import Sequence

from core.cards import Change
from core.tools import ToolError
from modules.files.git.commit_selection import ALL, CommitSelection, refuse_filters, select
from modules.files.git.git_runs import GitRuns
from modules.files.git.staging import refuse_links
from modules.files.git_remotes.branches import commit_of
from modules.files.project import Project
from modules.git.person.diffs import FileDiff, file_diff, lines_of
from modules.git.person.status import conflicting, tree_of
from utils.i18n import phrase
from utils.text.clean import visible

_APPLY = ("apply", "--cached", "--whitespace=nowarn")


def stage(git: GitRuns, paths: Sequence[str]) -> CommitSelection:
    """Stage *paths*, without any all that changed; return what was taken, and what left out.

    Left out is what `git_commit` leaves out: files for secrets and what tools fill, unless they
    are named. Raises `ToolError`.
    """
    refuse_links(git)
    chosen = select(git, paths or [ALL])
    for names, options in (
        (chosen.deleted, ("--force-remove",)),
        (chosen.present, ("--add", "--remove", "--replace")),
    ):
        _update(git, names, *options)
    return chosen


def unstage(git: GitRuns, paths: Sequence[str]) -> None:
    """Give the index what the last commit has of *paths*, without any of all."""
    refuse_links(git)
    if not paths and conflicting(git):
        raise ToolError(phrase("Some files have conflicts. Unstage files by their names."))
    tree = tree_of(git, commit_of(git, "HEAD"))
    words = git.split_output("diff-index", "--cached", "-z", "--no-renames", tree, "--", *paths)
    rows = [
        b"%b %b\t%b\0" % (*_before(facts), name)
        for facts, name in zip(words[::2], words[1::2], strict=True)
    ]
    if rows:
        git.run("update-index", "-z", "--index-info", stdin=b"".join(rows))


def _before(facts: bytes) -> tuple[bytes, bytes]:
    """Return the mode and the object that *facts*, of a raw diff, begin with."""
    mode, _, object_id, _, _ = facts.removeprefix(b":").split(b" ")
    return mode, object_id


def stage_hunk(git: GitRuns, project: Project, path: str, hunk_id: str) -> None:
    """Stage one hunk of *path*. Raises `ToolError` where the file has it no more."""
    refuse_filters(git, [os.fsencode(path)])
    _apply(git, _diff(git, project, path, is_staged=False), hunk_id)


def unstage_hunk(git: GitRuns, project: Project, path: str, hunk_id: str) -> None:
    """Take one hunk of *path* out of the index. Raises `ToolError` where it is not in it."""
    _apply(git, _diff(git, project, path, is_staged=True), hunk_id, "--reverse")


def discard(git: GitRuns, project: Project, paths: Sequence[str]) -> list[Change]:
    """Make the files *paths* as the index has them; those that git does not know are deleted.

    Returns what it did. Raises `ToolError`.
    """
    known = {path for path in paths if git.split_output("ls-files", "-z", "--", path)}
    if broken := [path for path in conflicting(git) if os.fsdecode(path) in known]:
        name = visible(os.fsdecode(broken[0]))
        raise ToolError(phrase("{path} has conflicts. Resolve them first.", path=name))
    names = [os.fsencode(path) for path in known]
    refuse_filters(git, names)
    if names:
        git.run("checkout-index", "--force", "-z", "--stdin", stdin=_ended(names))
    for path in paths:
        if path not in known:
            project.delete_file(project.normalize(path))
    return [Change("modified" if path in known else "deleted", path) for path in paths]


def discard_hunk(git: GitRuns, project: Project, path: str, hunk_id: str) -> Change:
    """Take one hunk out of the file *path*. Raises `ToolError` where it is not there as shown."""
    refuse_filters(git, [os.fsencode(path)])
    raw = _diff(git, project, path, is_staged=False).hunk(hunk_id).raw
    name = project.normalize(path)
    before = project.read_bytes(name)
    project.write_bytes(name, _without(before, raw), expected=before)
    return Change("modified", name)


def _without(data: bytes, raw: bytes) -> bytes:
    """Return *data* with the old lines of the hunk *raw* in the place of the new ones."""
    head, *rows = lines_of(raw)
    start = int(head.split(b"+")[1].split(b" ")[0].split(b",")[0])
    old, new = list[bytes](), list[bytes]()
    last: list[list[bytes]] = []
    for row in rows:
        if row.startswith(b"\\"):  # the line above has no end
            for one in last:
                one[-1] = one[-1].removesuffix(b"\n")
            continue
        last = [side for side, kind in ((old, b"- "), (new, b"+ ")) if row[:1] in kind]
        for one in last:
            one.append(row[1:])
    lines = lines_of(data)
    first = start - 1 if new else start
    if lines[first : first + len(new)] != new:
        raise ToolError(
            phrase("The file has other line ends than git keeps. Discard all of it instead.")
        )
    return b"".join([*lines[:first], *old, *lines[first + len(new) :]])


def _diff(git: GitRuns, project: Project, path: str, *, is_staged: bool) -> FileDiff:
    refuse_links(git)
    found = file_diff(git, project, path, is_staged=is_staged)
    if not found.is_divisible:
        raise ToolError(phrase("This file can only be staged or discarded as a whole."))
    return found


def _apply(git: GitRuns, diff: FileDiff, hunk_id: str, *options: str) -> None:
    patch = git.write_file("patch", diff.header + diff.hunk(hunk_id).raw)
    git.run(*_APPLY, *options, os.fspath(patch))


def _update(git: GitRuns, names: Sequence[bytes], *options: str) -> None:
    if names:
        git.run("update-index", *options, "-z", "--stdin", stdin=_ended(names))


def _ended(names: Sequence[bytes]) -> bytes:
    return b"".join(name + b"\0" for name in names)
