from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.run import prewarmed
from tests.modules.sandbox.sandbox_home import SandboxHome, home_of_process


@pytest.fixture
def sandbox_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxHome]:
    monkeypatch.setattr(
        prewarmed, "_START_TIMEOUT", 300.0
    )  # a slow machine gets its spare all the same
    with home_of_process(tmp_path) as home:
        yield home


@pytest.fixture(params=["A", "C"])
def run_tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The tier of programs: the best one, and the one that has no mounts."""
    name: str = request.param
    if name == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    return name
