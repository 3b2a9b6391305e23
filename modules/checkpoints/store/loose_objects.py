"""Loose objects: large contents, each a compressed file of its own, named by its digest."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from modules.checkpoints.store.compression import CHUNK, compress_stream, decompress_chunks


@dataclass(frozen=True, slots=True)
class CompressedFile:
    """A content in the temporary file *path*, *stored* bytes there and *size* bytes in truth."""

    path: Path
    key: str
    size: int
    stored: int


class LooseObjects:
    """The files in *folder*, which is made when the first comes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path_of(self, key: str) -> Path:
        """Return where the content of *key* is if it is here."""
        return self._folder / key[:2] / key

    @contextmanager
    def compressed(self, file: IO[bytes]) -> Iterator[CompressedFile]:
        """Compress what is left to read in *file*; the result is removed unless it is `put`.

        Raises `OSError`, and `UnreadableObject` when *file* is to blame.
        """
        self._folder.mkdir(mode=0o700, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=self._folder, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as out:
                key, size = compress_stream(file, out)
                out.flush()
                os.fsync(out.fileno())
                stored = out.tell()
            yield CompressedFile(Path(temporary), key, size, stored)
        finally:
            Path(temporary).unlink(missing_ok=True)

    def put(self, compressed_file: CompressedFile) -> None:
        target = self.path_of(compressed_file.key)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        compressed_file.path.rename(target)

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield the content of *key*, unchecked. Raises `OSError`, `zlib.error`."""
        with self.path_of(key).open("rb") as file:
            decompressor = zlib.decompressobj() if file.read(1) == b"z" else None
            while compressed_chunk := file.read(CHUNK):
                yield from (
                    decompress_chunks(decompressor, compressed_chunk)
                    if decompressor
                    else (compressed_chunk,)
                )
