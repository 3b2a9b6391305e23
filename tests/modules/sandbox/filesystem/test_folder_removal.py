from __future__ import annotations

import os
from pathlib import Path

from modules.sandbox.filesystem.folder_removal import remove_scratch


def test_a_folder_goes_however_deep_locked_and_linked(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(outside)
    locked = scratch / "locked"
    (locked / "inner").mkdir(parents=True)
    (locked / "inner/file").touch()
    (locked / "inner").chmod(0)
    locked.chmod(0o100)
    env = Path.cwd()
    os.chdir(scratch)
    for _ in range(3000):
        Path("d").mkdir()
        os.chdir("d")
        Path("file").touch()
    os.chdir(env)
    remove_scratch(scratch)
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (outside / "kept").exists()


def test_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove_scratch(tmp_path / "missing")
