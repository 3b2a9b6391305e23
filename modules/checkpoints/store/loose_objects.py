"""Where large contents are kept: each a file of its own, packed, named by its digest."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from modules.checkpoints.store.compression import CHUNK, copy_packed, unzipped


@dataclass(frozen=True, slots=True)
class Packed:
    """A content in the temporary file *path*, *stored* bytes there and *size* bytes in truth."""

    path: Path
    key: str
    size: int
    stored: int


class LooseObjects:
    """The files in *folder*, which is made when the first comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, key: str) -> Path:
        """Return where the content of *key* is if it is here."""
        return self._folder / key[:2] / key

    @contextmanager
    def packed(self, file: IO[bytes]) -> Iterator[Packed]:
        """Pack what is left to read in *file*; it goes again unless it is `put`.

        Raises `OSError`, and `Unreadable` when *file* is to blame.
        """
        self._folder.mkdir(mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self._folder, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as out:
                key, size = copy_packed(file, out)
                out.flush()
                os.fsync(out.fileno())
                stored = out.tell()
            yield Packed(Path(temporary), key, size, stored)
        finally:
            Path(temporary).unlink(missing_ok=True)

    def put(self, content: Packed) -> None:
        target = self.place(content.key)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        content.path.rename(target)

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield the content of *key*, unchecked. Raises `OSError`, `zlib.error`."""
        with self.place(key).open("rb") as file:
            unzip = zlib.decompressobj() if file.read(1) == b"z" else None
            while piece := file.read(CHUNK):
                yield from unzipped(unzip, piece) if unzip else (piece,)
