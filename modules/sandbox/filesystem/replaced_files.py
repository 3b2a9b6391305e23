"""Files that are shown in the place of others, kept by what is in them."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from utils.system.atomic_write import write_atomically

_MAX_AGE = 24 * 3600  # seconds without use; no call lasts nearly that long


class ReplacedFiles:
    """The files in *cache_folder*, which all sessions share."""

    def __init__(self, cache_folder: Path) -> None:
        self._folder = cache_folder

    def file_with(self, text: str) -> Path:
        """Return a file with *text* in it. Those that nobody has used for long are removed."""
        data = text.encode("utf-8", "surrogateescape")
        path = self._folder / f"masked-{hashlib.sha256(data).hexdigest()[:16]}"
        try:
            os.utime(path)
        except FileNotFoundError:
            write_atomically(path, data)
            self._remove_unused()
        return path

    def _remove_unused(self) -> None:
        for path in self._folder.glob("masked-*"):
            with suppress(OSError):
                if path.stat().st_mtime < time.time() - _MAX_AGE:
                    path.unlink()
