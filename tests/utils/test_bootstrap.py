"""The environment of our own, really made, with a package of our own to put into it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from utils.bootstrap import ensure_environment
from utils.i18n import Phrase, UserError

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
sys.path.insert(0, {house!r})
from utils.bootstrap import ensure_environment
from utils.i18n import UserError
try:
    ensure_environment({root!r}, packages=["onefold_probe"],
           requirements="requirements.txt", folder=".venv",
           print_message=lambda what: print(what, file=sys.stderr))
except UserError as problem:
    sys.exit(f"Problem: {{problem}}")
import onefold_probe
print(onefold_probe.VERSION, sys.argv[1:])
"""


def write_wheel(folder: Path, version: str) -> Path:
    """Make an installable package of one module by hand: nothing is fetched to build it."""
    path = folder / f"onefold_probe-{version}-py3-none-any.whl"
    info = f"onefold_probe-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("onefold_probe.py", f"VERSION = {version!r}\n")
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: onefold_probe\nVersion: {version}\n"
        )  # noqa: E501
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )  # noqa: E501
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "start.py").write_text(PROGRAM.format(house=str(ROOT), root=str(tmp_path)))
    (tmp_path / "requirements.txt").write_text(f"{write_wheel(tmp_path, '1.0')}\n")
    return tmp_path


def start(root: Path, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(root / "start.py"), *argv],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=500,
    )  # fmt: skip


def test_it_is_made_once_and_brought_up_to_date(root: Path) -> None:
    first = start(root, "--cli", "a b")
    assert first.stdout == "1.0 ['--cli', 'a b']\n", first.stderr
    assert "once" in first.stderr
    again = start(root)
    assert (again.stdout, again.stderr) == ("1.0 []\n", "")
    (root / "requirements.txt").write_text(f"{write_wheel(root, '2.0')}\n")
    assert start(root).stdout == "2.0 []\n"


def test_a_change_of_the_constraints_is_seen(root: Path) -> None:
    (root / "constraints.txt").write_text("# none\n")
    wanted = (root / "requirements.txt").read_text()
    (root / "requirements.txt").write_text(f"-c constraints.txt\n{wanted}")
    assert start(root).returncode == 0
    (root / "constraints.txt").write_text("onefold_probe==2.0\n")
    assert "ONEFOLD_BOOTSTRAP=0" in start(root).stderr


def test_an_environment_that_was_only_begun_is_finished(root: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    assert start(root).stdout == "1.0 []\n"


def test_an_environment_whose_python_is_gone_is_made_anew(root: Path) -> None:
    assert start(root).returncode == 0
    for program in (root / ".venv" / "bin").glob("python*"):
        program.unlink()
        program.symlink_to("/nowhere/python")
    assert start(root).stdout == "1.0 []\n"


def test_a_failure_says_what_to_do_and_the_next_start_tries_again(root: Path) -> None:
    good = (root / "requirements.txt").read_text()
    (root / "requirements.txt").write_text(str(root / "missing-1.0-py3-none-any.whl"))
    failed = start(root)
    assert failed.returncode == 1
    assert "missing-1.0" in failed.stderr
    assert "ONEFOLD_BOOTSTRAP=0" in failed.stderr
    (root / "requirements.txt").write_text(good)
    assert start(root).stdout == "1.0 []\n"


def test_a_place_that_cannot_be_written_to_is_said_at_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    told: list[Phrase] = []
    with pytest.raises(UserError, match=f"Cannot write to {root}"):
        ensure_environment(
            str(root),
            packages=["onefold_probe"],
            requirements="requirements.txt",
            folder=".venv",
            print_message=told.append,
        )
    assert told == []


def test_the_python_that_makes_way_says_what_it_loads(root: Path) -> None:
    program = (root / "start.py").read_text()
    (root / "start.py").write_text(f"{program}import os\nprint(os.environ['ONEFOLD_STARTED_BY'])\n")
    start(root)
    said = start(root, PYTHONPATH=str(root / "lib")).stdout.splitlines()[-1].split(os.pathsep)
    assert {sys.executable, sys.prefix, sys.base_prefix, str(root / "lib")} <= set(said)


def test_it_can_be_turned_off(root: Path) -> None:
    off = start(root, ONEFOLD_BOOTSTRAP="0")
    assert "No module named 'onefold_probe'" in off.stderr
    assert not (root / ".venv").exists()
