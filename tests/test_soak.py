"""A long session leaves nothing behind; the figures are those of `tests.bench.bench_soak`."""

from __future__ import annotations

import gc
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.assembly import assembled_terminal
from tests.bench.bench_soak import children, descriptors, measure_turns
from tests.modules.sandbox.sandbox_home import wait_until

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

    assert wait_until(is_nothing_more, PATIENCE), (descriptors(), files, threading.enumerate())


def test_sixty_turns_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with assembled_terminal(tmp_path) as env:
        measure_turns(env, 5)
        with nothing_more_held():
            measure_turns(env, 60)
        assert len(list(env.root.iterdir())) == 20
        names = {path.name for path in env.data.path.rglob("*") if path.is_file()}
        assert not [name for name in names if name.startswith(("new-", "tmp", "."))]
    assert list(temporary.iterdir()) == []


def test_a_session_that_is_closed_leaves_nothing_open(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        measure_turns(env, 5)
    with nothing_more_held():
        for _ in range(3):
            with assembled_terminal(tmp_path) as env:
                measure_turns(env, 5)


def test_a_session_that_is_closed_is_freed(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        measure_turns(env, 2)
        session = weakref.ref(env.terminal)
    del env
    assert wait_until(lambda: gc.collect() >= 0 and session() is None, PATIENCE)
