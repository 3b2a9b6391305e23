"""Archives of ours, unpacked on every Python that we know."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(files: tarfile.TarFile, folder: Path) -> None:
    """Unpack *files*, which we packed ourselves, into *folder*; Python asks how since 3.12."""
    if hasattr(tarfile, "data_filter"):
        files.extractall(folder, filter="data")
    else:  # before 3.11.4
        files.extractall(folder)
