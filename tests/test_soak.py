"""A long session leaves nothing behind; the figures are those of `tests.bench.bench_soak`."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from tests.assembly import house
from tests.bench.bench_soak import children, descriptors, soak


def test_sixty_turns_leave_nothing_behind(tmp_path: Path) -> None:
    temporary = set(Path(tempfile.gettempdir()).glob("onefold*"))
    with house(tmp_path) as here:
        soak(here, 5)
        before = descriptors(), threading.active_count(), children()
        soak(here, 60)
        assert (descriptors(), threading.active_count(), children()) == before
        assert len(list(here.root.iterdir())) == 20
        names = {path.name for path in here.data.path.rglob("*") if path.is_file()}
        assert not [name for name in names if name.startswith(("new-", "tmp", "."))]
    assert set(Path(tempfile.gettempdir()).glob("onefold*")) <= temporary


def test_a_session_that_is_closed_leaves_nothing_open(tmp_path: Path) -> None:
    with house(tmp_path) as here:
        soak(here, 5)
    before = descriptors(), threading.active_count(), children()
    for _ in range(3):
        with house(tmp_path) as here:
            soak(here, 5)
    assert (descriptors(), threading.active_count(), children()) == before
