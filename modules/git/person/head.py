"""The branch that the project is on, read from `.git/HEAD` without any program."""

from __future__ import annotations

import os
import re
from pathlib import Path

from modules.files.git.common_dir import read_regular_file
from modules.files.git.git_guard import find_git_folders
from utils.i18n import UserError
from utils.text.clean import visible

_BRANCH = b"ref: refs/heads/"
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ELSEWHERE = ".invalid"  # with reftable the file says no more
_SHORT = 8


def shown_head(root: Path) -> str:
    """Return the branch of the project *root*, or the beginning of the commit where it is on none.

    "" where there is no repository, or its `HEAD` cannot be read as a file.
    """
    try:
        folders = find_git_folders(root)
    except (OSError, UserError):
        return ""
    head = read_regular_file(folders.git_dir / "HEAD").rstrip(b"\n") if folders else b""
    if head.startswith(_BRANCH):
        name = os.fsdecode(head.removeprefix(_BRANCH))
        return "" if name == _ELSEWHERE else visible(name)
    return head[:_SHORT].decode() if _COMMIT.fullmatch(head) else ""
