"""The requests of programs that tests start are judged as well (tests/conftest.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.request_validation import RecordedRequests, recipe_error

ROOT = Path(__file__).parents[1]


def test_what_a_program_asks_of_its_own_practice_model_is_noted(
    tmp_path: Path, recorded_requests: RecordedRequests
) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "-p", "make a.txt with one", "--offline"],
        cwd=tmp_path, env={**os.environ, "ONEFOLD_DATA_DIR": str(tmp_path / "data")},
        stdin=subprocess.DEVNULL, check=True, timeout=300,
    )  # fmt: skip
    bodies = recorded_requests.new()
    assert len(bodies) == 2
    assert b"make a.txt with one" in bodies[0]
    assert [recipe_error(body) for body in bodies] == [None, None]


def test_a_request_that_a_kill_cut_off_is_none(tmp_path: Path) -> None:
    noted = RecordedRequests(tmp_path)
    file = tmp_path / "4711"
    file.write_bytes(b'{"a": 1}\n{"b"')
    assert noted.new() == [b'{"a": 1}']
    file.write_bytes(b'{"a": 1}\n{"b": 2}\n')
    assert [noted.new(), noted.new()] == [[b'{"b": 2}'], []]
