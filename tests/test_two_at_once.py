"""Two Onefolds on one project: the second reads, and is told who runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.events import CommandAnswered, ToolFinished
from tests.assembly import house
from tests.scripted import call, run, say
from utils.phrases import Problem

ROOT = Path(__file__).parents[1]
OTHER = """
import sys
from pathlib import Path
from modules.checkpoints.work import Work
from modules.data_folder import DataFolder
from modules.sessions import Sessions
data = DataFolder(Path(sys.argv[1]), Path(sys.argv[2]))
work = Work(data.checkpoints / "work")
work.begin("other")
Sessions(data.sessions).claim(sys.argv[3])
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def other_onefold(base: Path, session: str) -> Iterator[int]:
    """Let another process hold the project and *session*; yield its id."""
    command = [sys.executable, "-c", OTHER, str(base / "data"), str(base / "project"), session]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
        process.kill()


def test_a_session_that_another_runs_can_be_read(tmp_path: Path) -> None:
    with house(tmp_path, say("hello"), say("again")) as here:
        run(here.main, "hi")
        session = here.main.session
    with house(tmp_path, say("again")) as here:
        with other_onefold(tmp_path, session) as pid:
            here.main.resume(session)
            for line in ("/history", "/status", "/sessions", "/search hi"):
                (event,) = run(here.main, line)
                assert isinstance(event, CommandAnswered)
                assert event.ok
                if line == "/status":
                    assert f"process {pid}" in str(event.card).replace("'pid': ", "process ")
            with pytest.raises(Problem, match=f"process {pid}"):
                run(here.main, "go on")
            (refused,) = run(here.main, "/rewind 1")
            assert isinstance(refused, CommandAnswered)
            assert not refused.ok
            before = here.store.load(session)
        run(here.main, "go on")  # it is gone: the session is ours
        assert here.main.history.turns == [1, 2]
        assert here.store.load(session)[: len(before)] == before


def test_only_one_changes_the_folder_at_a_time(tmp_path: Path) -> None:
    write = call("create_file", path="a", content="x")
    look = call("list_files", id="c2")
    with house(tmp_path, write, look, say("ok"), write, say("ok")) as here:
        with other_onefold(tmp_path, "20260101-000000-abcd") as pid:
            answers = [e for e in run(here.main, "hi") if isinstance(e, ToolFinished)]
            assert [one.state for one in answers] == ["failed", "done"]
            told = [m["content"] for m in here.model.requests[1] if m["role"] == "tool"][0]
            assert f"process {pid}" in told
            assert not (here.root / "a").exists()
        run(here.main, "again")
        assert (here.root / "a").exists()
        run_again = [r for r in here.main.families if hasattr(r, "_checkpoints")]
        assert run_again[0]._checkpoints.work.other() is None
