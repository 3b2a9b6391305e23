"""The pictures of the README can be drawn again, from the program as it is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_both_pictures_are_drawn(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.pictures", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("terminal.png", "browser.png"):
        drawn = (tmp_path / name).read_bytes()
        assert drawn.startswith(b"\x89PNG")
        assert int.from_bytes(drawn[16:20]) > 1000  # pixels wide, as in docs/
