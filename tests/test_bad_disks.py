"""A full disk, a place that cannot be written and a database that is held: clear words, no loss."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.conversation.messages import User
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from tests.simulator import Call, Say, Simulator, Step

Result = subprocess.CompletedProcess[str]
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
        timeout=300,
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


def confined(base: Path, url: str, mounts: Sequence[str], *argv: str) -> Result:
    """Run the program, or with *argv* of "-c CODE" Python, with its data in what *mounts* makes."""
    bwrap = shutil.which("bwrap")
    assert bwrap
    (base / "project").mkdir(exist_ok=True)
    return subprocess.run(
        [bwrap, "--dev-bind", "/", "/", *mounts, "--chdir", str(base / "project"),
         sys.executable, *([] if argv[0] == "-c" else [str(ROOT / "main.py")]), *argv],
        env={**os.environ, "ONEFOLD_DATA_DIR": str(base / "data"), "DEEPSEEK_API_KEY": "sk-test",
             "DEEPSEEK_BASE_URL": url, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip


def read_only(base: Path) -> list[str]:
    return ["--ro-bind", str(base / "data"), str(base / "data")]


@pytest.mark.parametrize("left", ["nothing", "log and index", "log"])
def test_sessions_in_a_read_only_data_folder_can_be_read(tmp_path: Path, left: str) -> None:
    with Simulator([Say("first")]) as server:
        program(tmp_path, server.url, "-p", "one")
    path = DataFolder(tmp_path / "data", tmp_path / "project").sessions
    if left != "nothing":
        copy = tmp_path / "copy"
        store = Sessions(path)
        store.append(store.find(""), 2, User("only in the log"))
        shutil.copytree(path.parent, copy)
        store.close()
        shutil.rmtree(path.parent)
        copy.rename(path.parent)
        if left == "log":
            path.with_name(f"{path.name}-shm").unlink()
    before = {item: item.read_bytes() for item in path.parent.rglob("*") if item.is_file()}
    for line in ("/sessions", "/history", "/search one", "/status", f"/export {tmp_path}/x.md"):
        result = confined(tmp_path, "", read_only(tmp_path), "--resume", "-p", line)
        assert result.returncode == 0, result.stdout + result.stderr
        if line in ("/history", "/sessions"):
            assert "one" in result.stdout
    exported = (tmp_path / "x.md").read_text()
    assert "one" in exported
    assert ("only in the log" in exported) is (left != "nothing")
    after = {item: item.read_bytes() for item in path.parent.rglob("*") if item.is_file()}
    assert after == before


def test_what_needs_a_read_only_data_folder_says_so(tmp_path: Path) -> None:
    with Simulator([Say("first")]) as server:
        program(tmp_path, server.url, "-p", "one")
        for argv in (["-p", "go on"], ["--resume", "-p", "go on"]):
            result = confined(tmp_path, server.url, read_only(tmp_path), *argv)
            assert result.returncode == 2
            assert result.stdout == ""
            assert result.stderr.startswith("Onefold: ")
            assert "sessions.sqlite is read-only: Read-only file system" in result.stderr
            assert result.stderr.count("\n") == 1
        for line in ("/undo", "/rewind", "/remember x", "/note project x", "/fork"):
            is_explained(
                confined(tmp_path, server.url, read_only(tmp_path), "--resume", "-p", line),
                "Read-only file system" if line != "/note project x" else "project",
            )
        assert len(server.requests) == 1
    assert said(tmp_path) == ["one"]


def test_a_data_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    result = confined(tmp_path, "", read_only(tmp_path), "-p", "one")
    assert result.returncode == 2
    assert result.stderr.startswith("Onefold: ")
    assert "ONEFOLD_DATA_DIR" in result.stderr


FILL = """
import os, subprocess, sys
from pathlib import Path
data = Path(os.environ["ONEFOLD_DATA_DIR"])
main, *lines = sys.argv[1:]

def onefold(*argv):
    done = subprocess.run([sys.executable, main, *argv], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(f"{argv[-1]}: {done.returncode} {done.stdout}", flush=True)

onefold("-p", "one")
with open(data / "filler", "wb", buffering=0) as filler:
    while True:
        try:
            filler.write(bytes(4096))
        except OSError:
            break
onefold("--resume", "-p", "two")
onefold("-p", "/sessions")
onefold("--resume", "-p", "/history")
onefold("--resume", "-p", "/status")
(data / "filler").unlink()
onefold("--resume", "-p", "/status")
onefold("--resume", "-p", "three")
onefold("--resume", "-p", "/history")
"""


def test_a_disk_without_any_room_is_said_and_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    script: list[Step] = [
        Call("create_file", path="a.txt", content="a"),
        Say("first"),
        Say("third"),
    ]
    with Simulator(script) as server:
        mounts = ["--size", str(8_000_000), "--tmpfs", str(tmp_path / "data")]
        result = confined(tmp_path, server.url, mounts, "-c", FILL, str(ROOT / "main.py"))
    assert "Traceback" not in result.stdout + result.stderr
    assert "one: 0 first" in result.stdout
    assert "two: 2 Onefold: " in result.stdout
    assert "/sessions: 0 Sessions" in result.stdout
    assert "/history: 0 History" in result.stdout
    assert result.stdout.count("/status: 0 Status") == 2
    assert "No space left on device" not in result.stdout.rpartition("/status: 0")[2]
    assert "three: 0 third" in result.stdout
    *_, last = result.stdout.split("/history: 0")
    assert [word in last for word in ("one", "two", "three")] == [True, False, True]


def test_a_database_that_another_holds_is_said(tmp_path: Path) -> None:
    with Simulator([Say("first"), Say("second")]) as server:
        program(tmp_path, server.url, "-p", "one")
        path = DataFolder(tmp_path / "data", tmp_path / "project").sessions
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        result = program(tmp_path, server.url, "--resume", "-p", "two")
        is_explained(result, "locked by another program")
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


def test_the_status_does_not_promise_undo_where_nothing_can_be_held(tmp_path: Path) -> None:
    script: list[Step] = [Call("create_file", path="a.txt", content="a"), Say("first")]
    with Simulator(script) as server:
        program(tmp_path, server.url, "-p", "one")
    result = confined(tmp_path, "", read_only(tmp_path), "--resume", "-p", "/status")
    assert result.returncode == 0
    assert "no more can be saved: " in result.stdout
    assert "every change can be undone" not in result.stdout
