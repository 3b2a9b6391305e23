"""Everything about the browser screen is tested in both async modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from modules.web.servers.event_loop import AsyncMode, load_eventlet
from tests.modules.web.serving import Served, serving

load_eventlet()


@pytest.fixture(params=["eventlet", "threading"])
def mode(request: pytest.FixtureRequest) -> AsyncMode:
    chosen: AsyncMode = request.param
    return chosen


@pytest.fixture
def serve(mode: AsyncMode, tmp_path: Path) -> Callable[..., AbstractContextManager[Served]]:
    """Serves with the replies it is given."""
    return partial(serving, mode, tmp_path)


@pytest.fixture
def served(serve: Callable[..., Any]) -> Iterator[Served]:
    """A server whose model has nothing to say."""
    with serve() as one:
        yield one
