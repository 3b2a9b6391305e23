"""A full disk, a place that cannot be written and a database that is held: clear words, no loss."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.messages import User
from modules.data_folder import DataFolder
from modules.sessions import Sessions
from tests.simulator import Call, Say, Simulator, Step

ROOT = Path(__file__).parents[1]
SMALL = 300_000
NARROW = """
import os, resource, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execv(sys.argv[2], sys.argv[2:])
"""
"""Becomes the program that follows, which can write no file larger than so many bytes."""


def program(base: Path, url: str, *argv: str, limit: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the program with its data in `base/data`; no file may pass *limit* bytes (0: any)."""
    narrowed = [sys.executable, "-c", NARROW, str(limit)] if limit else []
    (base / "project").mkdir(exist_ok=True)
    return subprocess.run(
        [*narrowed, sys.executable, str(ROOT / "main.py"), *argv],
        cwd=base / "project",
        env={
            **os.environ,
            "ONEFOLD_DATA_DIR": str(base / "data"),
            "DEEPSEEK_API_KEY": "sk-test",
            "DEEPSEEK_BASE_URL": url,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def said(base: Path) -> list[str]:
    store = Sessions(DataFolder(base / "data", base / "project").sessions)
    found = [
        record.text
        for info in reversed(store.sessions())
        for _, record in store.load(info.id)
        if isinstance(record, User)
    ]
    store.close()
    return found


def is_explained(result: subprocess.CompletedProcess[str], word: str) -> None:
    assert "Traceback" not in result.stderr
    assert word in result.stderr + result.stdout
    assert result.returncode in (1, 2)


def test_a_full_disk_is_said_and_what_was_kept_stays(tmp_path: Path) -> None:
    big = "x" * 40_000
    script = [Say("first"), *(Say(big) for _ in range(20)), Say("room again")]
    with Simulator(lambda request: script[min(len(request.messages) // 2, 20)]) as server:
        assert program(tmp_path, server.url, "-p", "one").returncode == 0
        for number in range(20):
            line = f"more {number} {big}"
            result = program(tmp_path, server.url, "--resume", "-p", line, limit=SMALL)
            if result.returncode:
                break
        is_explained(result, "ONEFOLD_DATA_DIR")  # a limit on files is no full disk to SQLite
        kept = said(tmp_path)
        assert kept[0] == "one"
        assert program(tmp_path, server.url, "--resume", "-p", "after").returncode == 0
        assert said(tmp_path)[: len(kept)] == kept
        assert said(tmp_path)[-1] == "after"


@pytest.mark.parametrize("line", ["/sessions", "go on"])
def test_a_read_only_data_folder_is_said(tmp_path: Path, line: str) -> None:
    bwrap = shutil.which("bwrap")
    assert bwrap
    with Simulator([Say("first")]) as server:
        program(tmp_path, server.url, "-p", "one")
        data = str(tmp_path / "data")
        result = subprocess.run(
            [bwrap, "--dev-bind", "/", "/", "--ro-bind", data, data, "--chdir",
             str(tmp_path / "project"), sys.executable, str(ROOT / "main.py"),
             "--resume", "-p", line],
            env={**os.environ, "ONEFOLD_DATA_DIR": data, "DEEPSEEK_API_KEY": "sk-test",
                 "DEEPSEEK_BASE_URL": server.url},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        is_explained(result, "ONEFOLD_DATA_DIR")
        assert said(tmp_path) == ["one"]


def test_a_database_that_another_holds_is_said(tmp_path: Path) -> None:
    with Simulator([Say("first"), Say("second")]) as server:
        program(tmp_path, server.url, "-p", "one")
        path = DataFolder(tmp_path / "data", tmp_path / "project").sessions
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        result = program(tmp_path, server.url, "--resume", "-p", "two")
        is_explained(result, "held by another program")
        other.execute("ROLLBACK")
        other.close()
        assert program(tmp_path, server.url, "--resume", "-p", "two").returncode == 0
        assert said(tmp_path) == ["one", "two"]


def test_a_file_that_does_not_fit_is_not_half_written(tmp_path: Path) -> None:
    script: list[Step] = [
        Call("create_file", path="big.txt", content="x" * 2 * SMALL),
        Say("It failed."),
    ]
    with Simulator(script) as server:
        result = program(tmp_path, server.url, "-p", "write", limit=SMALL)
        assert "Traceback" not in result.stderr
        assert list((tmp_path / "project").iterdir()) == []
