"""Origin of a file of instructions: why it may come from somebody else than the person.

It is the person's own unless something speaks against it: the file belongs to another user of the
machine; it lies in a repository inside the project; it is as a commit has it, in a repository that
knows a remote (whose name a commit bears proves nothing: anybody can write it).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit, isolated_git
from modules.files.git.repository import find_work_tree, output_fields
from modules.instructions.files import InstructionFile
from utils.i18n import Phrase, UserError, phrase
from utils.system.child import TimedOut

_SECONDS = 10.0
_CHANGING_ATTRIBUTES = ("filter", "ident", "working-tree-encoding")
"""Attributes that let a file differ from its commit though nobody has touched it."""


def foreign_reason(root: Path, file: InstructionFile) -> Phrase | None:
    """Return why *file* of the project *root* may come from somebody else, None where nothing
    says so."""
    if file.leads_elsewhere:
        return phrase("It is a link to a file that the model can write.")
    if file.owner != os.getuid():
        return phrase("It belongs to another user of this machine.")
    tree = find_work_tree((root / file.path).parent)
    if tree is None:
        return None
    if tree != root and tree.is_relative_to(root):
        return phrase("It came with a repository inside the project.")
    with suppress(OSError, UserError, TimedOut):
        git = isolated_git(tree)
        if git and not git.common_dir.config.remotes:
            return None
        if git and not file.is_link and not _is_committed(git, root, file):
            return None
    return phrase("It is part of a repository that others can write to.")


def _is_committed(git: IsolatedGit, root: Path, file: InstructionFile) -> bool:
    """Return whether the file is as the commit at hand has it, as far as that can be told."""
    committed = git.run("cat-file", "blob", f"HEAD:./{file.path}", folder=root, seconds=_SECONDS)
    if committed.code:
        return False
    if _lines(committed.output) == _lines(file.data):
        return True
    names = ("check-attr", "-z", *_CHANGING_ATTRIBUTES, "--", file.path)
    words = output_fields(git, names, root, _SECONDS)
    return words is None or any(value not in ("unspecified", "unset") for value in words[2::3])


def _lines(data: bytes) -> list[bytes]:
    """Return the lines of *data*, whatever git has made of their ends."""
    return data.removesuffix(b"\n").replace(b"\r\n", b"\n").split(b"\n")
