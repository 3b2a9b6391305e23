"""Where Onefold was put: a checkout, or a package that an installer keeps; and of which commit."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

COMMIT_FILE = "COMMIT"
"""File beside `main.py` with the commit; only what was built has it."""


def is_installed(root: Path) -> bool:
    """Return whether *root*, the folder of `main.py`, was put there by an installer."""
    return (root / "__main__.py").exists()


def unpacked_archives(root: Path) -> list[Path]:
    """Return the folder in which archives of Onefold unpack themselves, if *root* is of one."""
    return [root.parents[1]] if root.parent.name.startswith("pyz-") else []


def platform_data_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the folder in which a program of this person keeps its data on *platform*."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - `Path.home` fails where there is none
    if platform == "darwin":
        base, variable = home / "Library" / "Application Support", ""
    elif platform == "win32":
        base, variable = home / "AppData" / "Local", "LOCALAPPDATA"
    else:
        base, variable = home / ".local" / "share", "XDG_DATA_HOME"
    chosen = environment.get(variable, "")
    return (Path(chosen) if os.path.isabs(chosen) else base) / "onefold"  # noqa: PTH117


def commit_of(root: Path) -> str:
    """Return the first 7 digits of the commit of the code in *root*; "" where nothing tells.

    It reads what git keeps there by itself: no program is started for a version.
    """
    built = _read(root / COMMIT_FILE)
    return built or _head(root / ".git")[:7]


def _head(git: Path) -> str:
    """Return the commit that the repository *git*, or the one that this file names, is at."""
    if named := _read(git).removeprefix("gitdir:").strip():
        git = git.parent / named
    head = _read(git / "HEAD")
    if not head.startswith("ref:"):
        return head
    name = head.removeprefix("ref:").strip()
    shared = git / (_read(git / "commondir") or ".")
    packed = (line.partition(" ") for line in _read(shared / "packed-refs").splitlines())
    return _read(shared / name) or next((commit for commit, _, ref in packed if ref == name), "")


def _read(path: Path) -> str:
    """Return the stripped text of *path*, "" where it is no file that can be read."""
    try:
        return path.read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""
