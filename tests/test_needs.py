"""What the tests need of the machine is named, to who runs them and to who reads about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system_packages import FONT, PROGRAMS, missing_packages


def test_what_is_missing_is_named_by_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PROGRAMS:
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_packages() == [FONT]
    (tmp_path / "rg").unlink()
    (tmp_path / "fc-list").write_text("#!/bin/sh\necho A Chinese Font\n")
    (tmp_path / "fc-list").chmod(0o755)
    assert missing_packages() == ["ripgrep"]


def test_all_that_is_needed_is_written_down() -> None:
    told = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    commands = [part.split() for part in told.split("`")]  # a command may go over the end of a line
    (packages,) = [words[2:] for words in commands if words[:2] == ["apt", "install"]]
    assert sorted(packages) == sorted([*PROGRAMS.values(), FONT])
