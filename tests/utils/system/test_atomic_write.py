from __future__ import annotations

import os
from pathlib import Path

import pytest

from utils.system.atomic_write import write_atomically


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_atomically(path, b"one")
    write_atomically(path, b"two", mode=0o644)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o644)
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    write_atomically(path, b"one")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"two")
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]
