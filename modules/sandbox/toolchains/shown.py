"""Toolchains as they are shown to programs: folders, links, PATH and variables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from modules.sandbox.filesystem.folders import is_within
from utils.i18n import Phrase

SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
"""Folders of programs that are there for everybody."""


@dataclass(frozen=True, slots=True)
class Toolchains:
    """Toolchains to show read-only. Empty where the person has none."""

    folders: tuple[Path, ...] = ()
    """Real folders, and single programs, those above before those below."""
    covered: tuple[Path, ...] = ()
    """Files and folders in them that nobody may read."""
    links: tuple[tuple[Path, str], ...] = ()
    """Links that lead to them from elsewhere, and what each says."""
    search_path: tuple[str, ...] = ()
    """All folders of PATH in the person's order; empty if it has the system's alone."""
    variables: tuple[tuple[str, str], ...] = ()
    """Variables by which programs find them: each value is a path that is shown, or a version."""
    refused: tuple[tuple[Path, Phrase], ...] = ()
    """What would have been shown, and why it is not."""
    home: Path = Path("/")
    """The person's home."""

    def holds(self, path: Path) -> bool:
        """Return whether the real *path* is in one of the folders, and not covered there."""
        is_shown = any(is_within(path, folder) for folder in self.folders)
        return is_shown and not any(is_within(path, covered) for covered in self.covered)

    def program_folders(self, *, first: Sequence[str] = (), last: Sequence[str] = ()) -> str:
        """Return the value of PATH, with *first* before and *last* behind all others."""
        system = [folder for folder in SYSTEM_PATH if folder not in self.search_path]
        return os.pathsep.join(dict.fromkeys((*first, *self.search_path, *system, *last)))

    def shortened(self, path: Path) -> str:
        """Return *path* for people, with `~` for their home."""
        is_inside = self.home != Path("/") and self.home in path.parents
        return f"~/{path.relative_to(self.home)}" if is_inside else str(path)
