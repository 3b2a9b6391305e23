"""Whether a repository is of the usual kind, by its config; a sparse checkout is one too."""

from __future__ import annotations

import re
from pathlib import Path

_UNUSUAL = re.compile(rb"^\s*\[\s*extensions|^\s*worktree\s*=", re.IGNORECASE | re.MULTILINE)
_OWN_CONFIG_ALONE = re.compile(
    rb"^\[extensions\]\n(?:[ \t]*worktreeconfig[ \t]*=[ \t]*true\n)+(?=\[|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
"""What `git sparse-checkout` writes: a work tree has settings of its own, in `config.worktree`."""
WORKTREE_CONFIG = "config.worktree"


def has_plain_config(git: Path) -> bool:
    """Return whether the repository *git* has a plain file of settings, and no unusual ones.

    Raises `OSError` where it cannot be read.
    """
    config, own = git / "config", git / WORKTREE_CONFIG
    if not config.is_file() or config.is_symlink() or own.is_symlink():
        return False
    if any(git.glob(f"worktrees/*/{WORKTREE_CONFIG}")):  # a linked one is not shown with its own
        return False
    text = _OWN_CONFIG_ALONE.sub(b"", config.read_bytes())
    if own.is_file():
        text += b"\n" + own.read_bytes()
    return _UNUSUAL.search(text) is None
