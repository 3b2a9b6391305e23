"""Nothing is replaced or removed that is not the very thing that was seen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.restore.atomic_file import AtomicReplacer, ConcurrentChange
from tests.modules.checkpoints.folders import checkpoints

Act = Callable[[AtomicReplacer, Checkpoints, int], None]


def put(placer: AtomicReplacer, points: Checkpoints, before: int) -> None:
    new, current = points.entry_at(before, "f"), points.entry_at(points.last_snapshot().id, "f")
    assert new
    placer.put("f", new, current)


def remove(placer: AtomicReplacer, points: Checkpoints, _: int) -> None:
    current = points.entry_at(points.last_snapshot().id, "f")
    assert current
    placer.remove("f", current)


@pytest.mark.parametrize("act", [put, remove])
def test_another_file_that_looks_alike_stays(tmp_path: Path, act: Act) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "f").write_text("old\n")
    with checkpoints(root, tmp_path / "store") as points:
        before = points.take().id
        (root / "f").write_text("seen\n")
        points.take()
        status = (root / "f").stat()
        shutil.copy(root / "f", root / "other")
        (root / "other").write_text("mine\n")  # as long, as old, with the same mode
        os.utime(root / "other", ns=(status.st_atime_ns, status.st_mtime_ns))
        (root / "other").replace(root / "f")
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        placer = AtomicReplacer(points.objects, handle, ".temporary")
        try:
            with pytest.raises(ConcurrentChange):
                act(placer, points, before)
        finally:
            placer.close()
            os.close(handle)
        assert {path.name: path.read_text() for path in root.iterdir()} == {"f": "mine\n"}
