"""What somebody sees whose `python3` is an old one."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OLD = """
import runpy, sys
sys.version_info = (3, 6, 15)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.parametrize("file", ["main.py", "tests/__main__.py"])
def test_an_old_python_is_told_which_one_is_needed(file: str) -> None:
    source = (ROOT / file).read_text()
    ast.parse(source, feature_version=(3, 6))
    assert "from __future__ import annotations" not in source  # 3.6 does not know it
    command = [sys.executable, "-c", OLD, str(ROOT / file)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stderr) == (2, "Onefold needs Python 3.11 or newer.\n")
