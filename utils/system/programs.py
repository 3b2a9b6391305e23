"""Finding programs of the system."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDERS = (
    *("/usr/bin", "/usr/local/bin", "/bin"),
    *("/opt/homebrew/bin", "/run/current-system/sw/bin"),  # macOS with Homebrew, NixOS
)


def search_path_outside(search_path: str, folder: Path) -> str:
    """Return *search_path*, a value of PATH, without what lies in *folder* or names no place."""
    real = folder.resolve()
    kept = []
    for entry in search_path.split(os.pathsep):
        path = Path(entry)
        if path.is_absolute() and real not in (target := path.resolve(), *target.parents):
            kept.append(entry)
    return os.pathsep.join(kept)


def system_program(name: str) -> str | None:
    """Return the path of the program *name*, None if the system has none.

    PATH is not asked: the folder of a project's environment may stand in it, and there a program
    from the sandbox could put its own.
    """
    candidates = (Path(folder, name) for folder in _FOLDERS)
    return next((str(path) for path in candidates if os.access(path, os.X_OK)), None)
