"""Two Onefolds on one project: the second reads, and is told who runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import StringIO
from pathlib import Path

import pytest

from core.conversation.messages import User
from core.events import CommandAnswered, Event, ToolFinished
from modules.checkpoints.store.project_lock import ProjectLock
from modules.cli.print_mode import PlainScreen
from modules.translator import Translator
from tests.assembly import assembled_terminal
from tests.scripted_model import call_reply, run_turn, start_thread, text_reply
from utils.i18n import UserError
from utils.system.process_identity import is_running, start_ticks

ROOT = Path(__file__).parents[1]
OTHER = """
import sys
from pathlib import Path
from modules.checkpoints.store.project_lock import ProjectLock
from modules.storage.data_folder import DataFolder
from modules.sessions.store import Sessions
data = DataFolder(Path(sys.argv[1]), Path(sys.argv[2]))
data.checkpoints.mkdir(mode=0o700, exist_ok=True)
work = ProjectLock(data.checkpoints / "work")
work.acquire("other")
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
    with assembled_terminal(tmp_path, text_reply("hello"), text_reply("again")) as env:
        run_turn(env.terminal, "hi")
        session = env.terminal.session
    with assembled_terminal(tmp_path, text_reply("again")) as env:
        with other_onefold(tmp_path, session) as pid:
            env.terminal.resume(session)
            for line in ("/history", "/status", "/sessions", "/search hi"):
                (event,) = run_turn(env.terminal, line)
                assert isinstance(event, CommandAnswered)
                assert event.ok
                if line == "/status":
                    assert f"process {pid}" in str(event.card).replace("'pid': ", "process ")
            with pytest.raises(UserError, match=f"process {pid}"):
                run_turn(env.terminal, "go on")
            (refused,) = run_turn(env.terminal, "/rewind 1")
            assert isinstance(refused, CommandAnswered)
            assert not refused.ok
            before = env.store.load(session)
        run_turn(env.terminal, "go on")  # it is gone: the session is ours
        assert env.terminal.history.turns == [1, 2]
        assert env.store.load(session)[: len(before)] == before


def test_only_one_changes_the_folder_at_a_time(tmp_path: Path) -> None:
    write = call_reply("create_file", path="a", content="x")
    look = call_reply("list_files", id="c2")
    with assembled_terminal(
        tmp_path, write, look, text_reply("ok"), write, text_reply("ok")
    ) as env:
        with other_onefold(tmp_path, "20260101-000000-abcd") as pid:
            events = run_turn(env.terminal, "hi")
            answers = [e for e in events if isinstance(e, ToolFinished)]
            assert [one.state for one in answers] == ["refused", "done"]
            assert printed(events) == (4, "ok\n", f"process {pid}")
            told = [m["content"] for m in env.model.requests[1] if m["role"] == "tool"][0]
            assert f"process {pid}" in told
            assert not (env.root / "a").exists()
        run_turn(env.terminal, "again")
        assert (env.root / "a").exists()
        with other_onefold(tmp_path, "20260101-000000-abcd"):
            pass  # the folder is free after a turn


def printed(events: list[Event]) -> tuple[int, str, str]:
    """Return how `-p` ends, what it prints, and the process that its complaint names."""
    screen = PlainScreen("text", out := StringIO(), err := StringIO(), Translator("en", {}))
    for event in events:
        screen.show(event)
    code = screen.finish()
    named = re.search(r"process \d+", err.getvalue())
    return code, out.getvalue(), named[0] if named else err.getvalue()


def test_the_folder_is_ours_until_the_last_session_here_is_done(tmp_path: Path) -> None:
    one, two = ProjectLock(tmp_path / "work"), ProjectLock(tmp_path / "work")
    one.acquire("one")
    two.acquire("two")
    one.release()
    begin = "import sys; from pathlib import Path\n"
    begin += "from modules.checkpoints.store.project_lock import ProjectLock\n"
    begin += "ProjectLock(Path(sys.argv[1])).acquire('three')"
    command = [sys.executable, "-c", begin, str(tmp_path / "work")]
    ask = partial(subprocess.run, command, cwd=ROOT, capture_output=True, text=True)
    assert f"process {os.getpid()}" in ask().stderr
    two.release()
    assert ask().returncode == 0


def test_a_program_that_is_being_started_keeps_no_lock(tmp_path: Path) -> None:
    """Until it runs it has a copy of what we have open."""

    def start_programs() -> None:
        for _ in range(100):
            subprocess.run(["/bin/true"], check=True)

    starting = [start_thread(start_programs), start_thread(start_programs)]
    work = ProjectLock(tmp_path / "work")
    while any(thread.is_alive() for thread in starting):
        work.acquire("one")
        time.sleep(0)  # so that the others come in
        work.release()


def test_a_process_that_nobody_buried_is_not_running() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        started = start_ticks(process.pid)
        assert is_running(process.pid, started)
        os.kill(process.pid, 9)
        if sys.platform == "linux":
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_running(process.pid, started)


def test_a_session_that_was_left_whole_is_not_repaired(tmp_path: Path) -> None:
    todos = [{"title": "one", "status": "pending"}]
    with assembled_terminal(
        *(tmp_path, call_reply("update_todos", todos=todos)),
        *(text_reply("done"), text_reply("done")),
    ) as env:
        run_turn(env.terminal, "plan it")
        session = env.terminal.session
        log = env.terminal.history.log
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume(session)
        assert env.terminal.history.incidents == []
        assert env.terminal.history.log == log


def test_two_threads_may_begin_a_session_together(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        for _ in range(30):
            session = env.store.create(model="m")
            gate = threading.Barrier(2)

            def say_so(session: str = session, gate: threading.Barrier = gate) -> None:
                gate.wait()
                env.store.append(session, 1, User("hi"))

            threads = [start_thread(say_so), start_thread(say_so)]
            for thread in threads:
                thread.join()
            assert len(env.store.load(session)) == 2


def test_nobody_begins_while_another_session_is_alone_in_the_folder(tmp_path: Path) -> None:
    one, two = ProjectLock(tmp_path / "work"), ProjectLock(tmp_path / "work")
    with one.exclusive("one"):
        with pytest.raises(UserError, match="Session one is at work"):
            two.acquire("two")
        one.acquire("one")
    two.acquire("two")
    two.release()
