"""Nothing gets out: made as whoever runs the tests, and as an ordinary user when that is root."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from tests.modules.sandbox.probes import LANDLOCK_LIMITATIONS, neighbours, successes
from tests.modules.sandbox.sandbox_home import SandboxHome

ROOT = Path(__file__).parents[3]
NOBODY = 65534

pytestmark = pytest.mark.as_root


def test_no_attempt_succeeds(sandbox_home: SandboxHome, tmp_path: Path) -> None:
    with neighbours(tmp_path) as outside:
        assert successes(sandbox_home, outside) == {}


def test_landlock_holds_what_it_promises(
    sandbox_home: SandboxHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    assert sandbox_home.sandbox().report().tier == "C"
    with neighbours(tmp_path) as outside:
        assert successes(sandbox_home, outside, LANDLOCK_LIMITATIONS) == {}


@pytest.fixture
def open_copy() -> Iterator[Path]:
    """The code and an empty folder where every user can get at them."""
    base = Path(tempfile.mkdtemp())
    base.chmod(0o755)
    for name in (
        "core",
        "modules/sandbox",
        "modules/files",
        "modules/storage",
        "utils",
        "tests/modules/sandbox",
    ):
        shutil.copytree(ROOT / name, base / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("modules", "tests", "tests/modules"):
        (base / name / "__init__.py").touch()
    (base / "own").mkdir()
    subprocess.run(["chmod", "-R", "a+rX", str(base)], check=True)
    yield base
    shutil.rmtree(base)


@pytest.mark.parametrize("tier", ["A", "C"])
def test_no_attempt_succeeds_for_an_ordinary_user(open_copy: Path, tier: str) -> None:
    own = open_copy / "own"
    is_root = os.getuid() == 0
    if is_root:
        os.chown(own, NOBODY, NOBODY)
    done = subprocess.run(
        [
            *(("/usr/bin/setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}") if is_root else ()),
            *(("--clear-groups", "/usr/bin/python3") if is_root else (sys.executable,)),
            *("-m", "tests.modules.sandbox.probes", str(own), tier),
        ],
        cwd=open_copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ast.literal_eval(done.stdout) == {}
