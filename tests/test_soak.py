"""A long session leaves nothing behind; the figures are those of `tests.bench.bench_soak`."""

from __future__ import annotations

import gc
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.assembly import house
from tests.bench.bench_soak import children, descriptors, soak
from tests.modules.sandbox.house import until

PATIENCE = 60.0
"""Seconds for what was begun beside the turns to be over."""


@contextmanager
def nothing_more_held() -> Iterator[None]:
    """Fail if this process goes on to hold more; what other tests left may go meanwhile."""
    gc.collect()
    files, threads, below = descriptors(), threading.active_count(), children()
    yield

    def is_nothing_more() -> bool:
        gc.collect()
        is_less = descriptors() <= files and threading.active_count() <= threads
        return is_less and children() <= below

    assert until(is_nothing_more, PATIENCE), (descriptors(), files, threading.enumerate())


def test_sixty_turns_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with house(tmp_path) as here:
        soak(here, 5)
        with nothing_more_held():
            soak(here, 60)
        assert len(list(here.root.iterdir())) == 20
        names = {path.name for path in here.data.path.rglob("*") if path.is_file()}
        assert not [name for name in names if name.startswith(("new-", "tmp", "."))]
    assert list(temporary.iterdir()) == []


def test_a_session_that_is_closed_leaves_nothing_open(tmp_path: Path) -> None:
    with house(tmp_path) as here:
        soak(here, 5)
    with nothing_more_held():
        for _ in range(3):
            with house(tmp_path) as here:
                soak(here, 5)
