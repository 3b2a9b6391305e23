from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.modules.sandbox.house import House, lived_in


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with lived_in(tmp_path) as made:
        yield made
