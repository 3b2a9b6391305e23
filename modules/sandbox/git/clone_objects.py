"""Objects of a clone that a run has made of the project's repository: brought to it afterwards.

What `git clone . sub` finds in the sandbox has its objects elsewhere, where only programs find
them. So the clone names that place, and would be without objects on the person's side.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from modules.sandbox.filesystem.held_folder import HeldFolder
from modules.sandbox.git.alternates import ALTERNATES

MAX_BYTES = 1 << 30
"""Bytes of objects that are copied after a run: what a clone of more names is taken away."""
_MAX_FILES = 200_000
_LOOSE = re.compile(r"[0-9a-f]{2}")
_OBJECT = re.compile(r"[0-9a-f]{38}([0-9a-f]{24})?")
_PACK = re.compile(r"pack-[0-9a-f]{40}([0-9a-f]{24})?\.(pack|idx|rev)")


def bring_objects(clone: Path, objects: Path, seen: str, most: int) -> int:
    """Copy *objects*, which programs find at *seen*, to the repository *clone* if it names these
    alone as its alternates, which it does not afterwards.

    Return how many bytes that were: 0 for another repository, and where they are more than *most*.
    No file is shared with the clone, for programs may write to what is in that. Raises `OSError`.
    """
    with HeldFolder.open(clone) as held:
        named = held.content(ALTERNATES, len(seen) + 1)
        if named is None or named[0] < 0 or named[1] != os.fsencode(f"{seen}\n"):
            return 0
        files = list(_files_in(objects))
        total = sum(path.stat().st_size for path in files)
        if total > most or len(files) >= _MAX_FILES:
            return 0
        for path in files:
            name = f"objects/{path.relative_to(objects).as_posix()}"
            if held.status(name) is None:
                held.copy(name, path, 0o444)
        held.remove(ALTERNATES)
    return total


def _files_in(objects: Path) -> Iterator[Path]:
    """Yield the files of the folder *objects* that hold some, packs before what leads into them."""
    found = 0
    for folder in sorted(_entries(objects)):
        inner = _PACK if folder.name == "pack" else _OBJECT
        if folder.name == "pack" or _LOOSE.fullmatch(folder.name):
            for path in sorted(_entries(folder), key=lambda one: (one.suffix != ".pack", one)):
                if inner.fullmatch(path.name) and stat.S_ISREG(path.lstat().st_mode):
                    yield path
                    if (found := found + 1) >= _MAX_FILES:
                        return


def _entries(folder: Path) -> list[Path]:
    with suppress(FileNotFoundError, NotADirectoryError):
        return list(folder.iterdir())
    return []
