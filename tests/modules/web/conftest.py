"""Fixtures of the browser screen, for both async modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from modules.web.servers.event_loop import AsyncMode, load_eventlet
from tests.modules.web.serving import RunningServer, run_server

load_eventlet()


@pytest.fixture(params=["eventlet", "threading"])
def mode(request: pytest.FixtureRequest) -> AsyncMode:
    chosen: AsyncMode = request.param
    return chosen


@pytest.fixture
def serve(mode: AsyncMode, tmp_path: Path) -> Callable[..., AbstractContextManager[RunningServer]]:
    """Serves with the replies it is given."""
    return partial(run_server, mode, tmp_path)


@pytest.fixture
def served(serve: Callable[..., Any]) -> Iterator[RunningServer]:
    """A server whose model has nothing to say."""
    with serve() as server:
        yield server
