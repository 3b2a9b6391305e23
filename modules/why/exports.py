"""Exports of where lines come from: a file in Agent Trace, and a note of git on a commit."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.tools import ToolError
from modules.checkpoints.line_origins.origins import FileOrigins
from modules.checkpoints.line_origins.tracing import Tracing
from modules.files.git.git_runs import GitRuns, git_for
from modules.files.git.staging import identity_variables
from modules.files.project import Project
from modules.why.agent_trace import trace_record
from modules.why.reasons import Reasons
from utils.system.child import OnCancel

NOTES = "refs/notes/onefold"
"""The notes of git that hold the records."""


def project_record(
    project: Project, tracing: Tracing, reasons: Reasons, version: str
) -> dict[str, Any]:
    """Return the record of the files of *project* as they are on the disk.

    Files that are as they were in the first state that is kept have nothing to record.
    """
    listed = set(project.files())
    paths = [path for path in tracing.changed_paths() if path in listed]
    return trace_record(_texts(map(tracing.trace, paths)), reasons, version)


def note_commit(
    root: Path, commit: str, tracing: Tracing, reasons: Reasons, version: str, until: OnCancel
) -> tuple[str, int]:
    """Put the record of what *commit* changed into its note; an earlier one of ours is replaced.

    Returns the whole name of the commit, and how many files have lines to record. Raises
    `ToolError`.
    """
    git = GitRuns(git_for(root, until), root)
    git = git.with_variables(identity_variables(git))
    revision = git.run("rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
    name = revision.decode().strip()
    record = trace_record(_texts(_committed(git, name, tracing)), reasons, version, revision=name)
    data = json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    git.run("notes", f"--ref={NOTES}", "add", "--force", "--file=-", name, stdin=data)
    return name, len(record["files"])


def _committed(git: GitRuns, name: str, tracing: Tracing) -> Iterator[FileOrigins | None]:
    """Yield the origins of the files that the commit *name* added or changed."""
    has_parent = git.succeeds("rev-parse", "--verify", "--quiet", f"{name}^1")
    trees = (f"{name}^1", name) if has_parent else ("--root", name)
    kinds = ("--no-commit-id", "--name-only", "--diff-filter=AMT", "--no-renames")
    for path in git.split_output("diff-tree", "-r", "-z", *kinds, *trees):
        try:
            data = git.run("cat-file", "blob", f"{name}:{os.fsdecode(path)}")
        except ToolError:  # a submodule
            continue
        yield tracing.trace_committed(os.fsdecode(path), data)


def _texts(found: Iterator[FileOrigins | None]) -> Iterator[FileOrigins]:
    return (one for one in found if one and not one.kind and not one.is_gone)
