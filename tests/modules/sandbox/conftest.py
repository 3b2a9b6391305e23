from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.sandbox.run import prewarmed
from tests.modules.sandbox.house import House, lived_in


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr(prewarmed, "_STARTING", 300.0)  # a slow machine gets its spare all the same
    with lived_in(tmp_path) as made:
        yield made
