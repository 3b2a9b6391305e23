"""The data of every version that was tagged opens in this one, and work goes on in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from config import VERSION
from modules.storage.data_folder import DataFolder
from tests import archives

ROOT = Path(__file__).parents[1]
ARCHIVES = sorted((ROOT / "tests" / "upgrade").glob("*.tar.xz"))


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack what a version left, as if it had been made in *folder*; return the project."""
    with tarfile.open(archive) as files:
        archives.unpack(files, folder)
        for entry in reversed(files.getmembers()):  # folders after what is in them
            seconds, _, rest = entry.pax_headers["mtime"].partition(".")
            time = int(seconds) * 10**9 + int(rest)
            os.utime(folder / entry.name, ns=(time, time))
    (kept,) = (folder / "data" / "projects").iterdir()
    kept.rename(DataFolder.path_for(folder / "data", folder / "demo"))
    return folder / "demo"


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_the_data_of_a_version_opens_and_work_goes_on(archive: Path, tmp_path: Path) -> None:
    project = unpack(archive, tmp_path.resolve())
    environment = {**os.environ, "ONEFOLD_DATA_DIR": str(tmp_path.resolve() / "data")}

    def answer(*words: str) -> str:
        command = [sys.executable, str(ROOT / "main.py"), "--offline", *words]
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, timeout=300
        )
        assert (done.returncode, done.stderr) == (0, ""), words
        return done.stdout

    assert "up to 7 per task" in answer("-p", "/status")
    assert "make a.txt with one" in answer("-p", "/sessions")
    history = answer("--resume", "-p", "/history")
    assert "make a.txt with one" in history
    assert "make b.txt with two" in history
    assert "I like tea." in answer("-p", "/memory")
    assert "a remark" in answer("-p", "/note a.txt")
    answer("--resume", "-p", "/undo")
    assert sorted(path.name for path in project.iterdir()) == ["a.txt"]
    answer("--resume", "-p", "make c.txt with three")
    answer("--resume", "-p", "/rewind 1")
    assert list(project.iterdir()) == []


def test_every_version_that_was_tagged_has_left_its_data() -> None:
    tags = subprocess.run(
        ["git", "-C", str(ROOT), "tag", "--list"], capture_output=True, text=True, check=False
    ).stdout.split()
    versions = {tag.removeprefix("v") for tag in tags if tag.removeprefix("v")[:1].isdecimal()}
    assert {*versions, VERSION} <= {path.name.removesuffix(".tar.xz") for path in ARCHIVES}
