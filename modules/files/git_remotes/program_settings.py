"""Settings of a repository that a program may change: none that git runs, or goes elsewhere for.

These are the branch that a branch follows, and which submodules are checked out.
"""

from __future__ import annotations

from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit
from modules.files.git_remotes.config_file import ConfigChanges, changed_names, config_values
from modules.files.git_remotes.submodule_settings import changed_submodules
from modules.files.git_remotes.upstreams import changed_upstreams

_WORK_TREE = "core.worktree"  # `git submodule deinit` takes it out, and has no use for it


def changed_settings(git: IsolatedGit, before: Path, after: Path) -> tuple[ConfigChanges, bool]:
    """Return what the config file *after* says otherwise than *before*, and whether that is all.

    What may not be written is left out, and is not all then, as of a file that git cannot read.
    Raises `OSError`.
    """
    old = config_values(git, before)
    try:
        new = config_values(git, after)
    except OSError:
        return {}, False
    found = {**changed_upstreams(old, new), **changed_submodules(old, new)}
    changed = changed_names(old, new)
    if _WORK_TREE not in new:
        changed.discard(_WORK_TREE)
    return found, changed <= found.keys()
