"""Files that are shown in the place of others, kept by what is in them."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from utils.system.atomic_write import write_atomically

_KEPT = 24 * 3600  # seconds without use; no call lasts nearly that long


class ReplacedFiles:
    """The files in *cache_folder*, which all sessions share."""

    def __init__(self, cache_folder: Path) -> None:
        self._folder = cache_folder

    def showing(self, text: str) -> Path:
        """Return a file with *text* in it. Those that nobody has used for long are removed."""
        data = text.encode("utf-8", "surrogateescape")
        place = self._folder / f"masked-{hashlib.sha256(data).hexdigest()[:16]}"
        try:
            os.utime(place)
        except FileNotFoundError:
            write_atomically(place, data)
            self._tidy()
        return place

    def _tidy(self) -> None:
        for place in self._folder.glob("masked-*"):
            with suppress(OSError):
                if place.stat().st_mtime < time.time() - _KEPT:
                    place.unlink()
