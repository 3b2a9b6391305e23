"""Alternates: folders of other repositories from which a repository has a part of its objects.

`git clone --shared` and `--reference` make them. Nothing is shown for their sake: a file in a
repository names no folder of the person that programs would not see without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.common_dir import read_regular_file
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

ALTERNATES = "objects/info/alternates"
"""The file of a repository that names them."""
_MAX_DEPTH = 5  # as git's own
_MAX_FOLDERS = 50


class AlternatesNotPlain(Exception):
    """Alternates that programs cannot be shown; *folder* is the one they do not see, if any."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.folder = folder


@dataclass(frozen=True, slots=True)
class Alternates:
    """Alternates of repositories, as far as *shows* says that programs see a folder, unwritable."""

    shows: Callable[[Path], bool]

    def of(self, repository: Path) -> tuple[Path, ...]:
        """Return the real folders of the objects that *repository* has elsewhere, each with those
        that it names in turn. Raises `AlternatesNotPlain`.
        """
        found: dict[Path, None] = {}
        pending = [(repository / "objects", 0)]
        while pending:
            objects, depth = pending.pop()
            for named in _named_in(objects):
                folder = Path(os.path.realpath(named))
                # git reads those of others by itself, and finds them by no link.
                if depth >= _MAX_DEPTH or (depth and folder != Path(os.path.normpath(named))):
                    raise AlternatesNotPlain
                if not (self.shows(folder) and folder.is_dir()):
                    raise AlternatesNotPlain(folder)
                if folder not in found:
                    found[folder] = None
                    pending.append((folder, depth + 1))
            if len(found) > _MAX_FOLDERS:
                raise AlternatesNotPlain
        return tuple(found)

    def is_seen(self, repository: Path) -> bool:
        """Return whether programs see all objects that *repository* has elsewhere, if any."""
        try:
            self.of(repository)
        except AlternatesNotPlain:
            return False
        return True

    def why_unseen(self, repository: Path) -> Phrase | None:
        """Return what to do about alternates of *repository* that programs do not see, if any."""
        try:
            self.of(repository)
        except AlternatesNotPlain as refused:
            return unseen_note(refused.folder) if refused.folder else None
        return None


def unseen_note(folder: Path) -> Phrase:
    return phrase(
        "The repository has a part of its objects in {path}, which programs do not see: git works "
        "for them once the person has added that folder to show_folders in config.toml.",
        path=visible(str(folder)),
    )


def _named_in(objects: Path) -> Iterator[Path]:
    """Yield the folders that *objects* names, as it does. Raises `AlternatesNotPlain`."""
    file = objects / "info/alternates"
    if not os.path.lexists(file):
        return
    if os.path.islink(file) or not os.path.isfile(file):  # noqa: PTH113, PTH114 - never raise
        raise AlternatesNotPlain
    content = read_regular_file(file)
    if b"\0" in content or (not content and file.stat().st_size):
        raise AlternatesNotPlain
    for line in content.splitlines():
        if line.startswith(b'"'):  # quoted, as for names with line ends
            raise AlternatesNotPlain
        if line and not line.startswith(b"#"):
            yield objects / os.fsdecode(line)
