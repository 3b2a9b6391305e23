"""The pictures of the README can be drawn again, from the program as it is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_all_pictures_are_drawn(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.pictures", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sizes = {}
    for path in tmp_path.iterdir():
        with Image.open(path) as picture:
            sizes[path.name] = (picture.format, picture.width, getattr(picture, "n_frames", 1) > 50)
    assert sizes == {
        "recording.webp": ("WEBP", 880, True),
        "browser.png": ("PNG", 2880, False),
        "browser-dark.png": ("PNG", 2880, False),
        "phone.png": ("PNG", 780, False),
    }
