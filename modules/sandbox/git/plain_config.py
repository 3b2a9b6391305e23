"""Whether a repository is of the usual kind, by its config; a sparse checkout is one too."""

from __future__ import annotations

import os
import re
from pathlib import Path

_UNUSUAL = re.compile(rb"^\s*\[\s*extensions|^\s*worktree\s*=", re.IGNORECASE | re.MULTILINE)
_OWN_CONFIG_ALONE = re.compile(
    rb"^\[extensions\]\n(?:[ \t]*worktreeconfig[ \t]*=[ \t]*true\n)+(?=\[|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
"""What `git sparse-checkout` writes: a work tree has settings of its own, in `config.worktree`."""
WORKTREE_CONFIG = "config.worktree"
_OF_TREE = re.compile(r"worktrees/[^/]+/config\.worktree")


def has_plain_config(git: Path) -> bool:
    """Return whether the repository *git* has a plain file of settings, and no unusual ones.

    Raises `OSError` where it cannot be read.
    """
    config, own = git / "config", git / WORKTREE_CONFIG
    if not config.is_file() or config.is_symlink():
        return False
    of_trees = [path for path in (own, *git.glob(f"worktrees/*/{WORKTREE_CONFIG}"))
                if os.path.lexists(path)]  # fmt: skip
    if not all(path.is_file() and not path.is_symlink() for path in of_trees):
        return False
    text = _OWN_CONFIG_ALONE.sub(b"", config.read_bytes())
    return not any(_UNUSUAL.search(one) for one in (text, *(p.read_bytes() for p in of_trees)))


def is_of_tree(name: str) -> bool:
    """Return whether the file *name*, a path in a repository, has settings of a linked tree."""
    return _OF_TREE.fullmatch(name) is not None
