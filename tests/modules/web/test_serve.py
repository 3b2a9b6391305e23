"""`main.py --web` as a person starts and ends it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import HTTPErrorProcessor, build_opener

import pytest
import socketio

from core.conversation.messages import User
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from modules.web.servers.event_loop import AsyncMode
from tests.modules.sandbox.sandbox_home import wait_until

ROOT = Path(__file__).parents[3]
PATIENCE = 120.0


class _Stay(HTTPErrorProcessor):
    """Follows no redirect."""

    def http_response(self, request: object, response: object) -> object:
        return response


def command(tmp: Path, *options: str) -> list[str]:
    (tmp / "project").mkdir(exist_ok=True)
    fixed = ["--web", "--offline", "--project", str(tmp / "project")]
    return [sys.executable, str(ROOT / "main.py"), *fixed, *options]


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEFOLD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ONEFOLD_BOOTSTRAP", "0")


@contextmanager
def started(
    tmp: Path, *options: str, argv: Sequence[str] = ()
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the server, or *argv*; yield it and its login link."""
    process = subprocess.Popen(
        argv or command(tmp, *options), cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        for line in process.stdout:
            if found := re.search(r"http://\S+/login\?token=\S+", line):
                yield process, found[0]
                break
        else:
            pytest.fail("no link was printed")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_a_link_that_works_once_and_ends_on_a_signal(
    tmp_path: Path, mode: AsyncMode, number: signal.Signals
) -> None:
    with started(tmp_path, "--port", "0", "--async-mode", mode) as (process, link):
        opener = build_opener(_Stay)
        with opener.open(link, timeout=PATIENCE) as answer:
            assert answer.status == 303
        with opener.open(link, timeout=PATIENCE) as answer:
            assert answer.status == 401
        (file,) = (tmp_path / "data").glob("server-*.json")
        assert json.loads(file.read_text())["url"] in link
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert not file.exists()


def test_a_second_ctrl_c_leaves_what_does_not_stop(tmp_path: Path, mode: AsyncMode) -> None:
    stuck = (
        "import main, sys, threading; from modules.web.server import WebServer\n"
        "def stop(server): print('stops', flush=True); threading.Event().wait()\n"
        "WebServer.stop = stop; sys.exit(main.main())"
    )
    argv = [
        sys.executable,
        "-c",
        stuck,
        *command(tmp_path, "--port", "0", "--async-mode", mode)[2:],
    ]
    with started(tmp_path, argv=argv) as (process, _):
        assert process.stdout
        process.send_signal(signal.SIGINT)
        assert "stops\n" in iter(process.stdout.readline, "")
        while process.poll() is None:  # one that comes right behind another is taken for the same
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(2)
        # The very last one may come when Python has no handler any more; a shell says 130 of both.
        assert process.returncode in (130, -signal.SIGINT)


def test_it_outlives_a_terminal_that_it_was_told_to_outlive(
    tmp_path: Path, mode: AsyncMode
) -> None:
    nohup = ["nohup", *command(tmp_path, "--port", "0", "--async-mode", mode)]
    with started(tmp_path, argv=nohup) as (process, link):
        process.send_signal(signal.SIGHUP)
        assert login(link) == "/"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "add --allow-remote"),
        (["--host", "no.such.host.invalid", "--allow-remote"], "This machine has no address"),
        (["--port", "99999"], "from 0 to 65535"),
        (["--host", "0.0.0.0", "--allow-remote", "--terminal"], "use --terminal=remote"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    tmp_path: Path, options: list[str], said: str
) -> None:
    done = subprocess.run(
        command(tmp_path, *options), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = subprocess.run(
            command(tmp_path, "--port", port), capture_output=True, text=True, timeout=PATIENCE
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Cannot use port {port} on 127.0.0.1" in done.stderr


def login(link: str) -> str:
    """Use the *link* up; return where it leads."""
    answer = build_opener(_Stay).open(link, timeout=PATIENCE)
    assert answer.status == 303
    return str(answer.headers["Location"])


def test_the_session_asked_for_is_the_one_that_is_shown(tmp_path: Path) -> None:
    data = DataFolder(tmp_path / "data", tmp_path / "project")
    command(tmp_path)
    store = Sessions(data.sessions)
    old, new = store.create(model="m"), store.create(model="m")
    for turn, session in enumerate((old, new), start=1):
        store.append(session, turn, User("hi"))
    store.close()
    with started(tmp_path, "--port", "0") as (_, link):
        assert login(link) == "/"
    with started(tmp_path, "--port", "0", "--resume", old) as (_, link):
        assert login(link) == f"/s/{old}"
    with started(tmp_path, "--port", "0", "--resume") as (_, link):
        assert login(link) == f"/s/{new}"


def test_a_session_that_is_not_there_is_told_before_anything_is_served(tmp_path: Path) -> None:
    run = subprocess.run(
        command(tmp_path, "--port", "0", "--resume", "nowhere"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run.returncode == 2
    assert "nowhere" in run.stderr
    assert "/login" not in run.stdout


@contextmanager
def terminal_of(data: Path, typed: str) -> Iterator[None]:
    """Open a shell of the person's on the server that keeps its data in *data*, and type there."""
    (file,) = data.glob("server-*.json")
    server = json.loads(file.read_text())
    client = socketio.Client(reconnection=False)
    client.connect(
        server["url"],
        headers={"Authorization": f"Bearer {server['token']}"},
        transports=["websocket"],
        wait_timeout=PATIENCE,
    )
    wanted = {"place": "outside", "lines": 24, "columns": 80}
    opened = client.call("terminal-open", wanted, timeout=PATIENCE)
    answer = client.call(
        "terminal-type", {"terminal": opened["terminal"], "text": typed}, timeout=PATIENCE
    )
    assert answer["ok"], answer
    try:
        yield
    finally:
        client.disconnect()


def test_a_shell_ends_with_a_killed_server_and_no_log_knows_of_it(
    tmp_path: Path, mode: AsyncMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-0123456789abcdef")
    monkeypatch.setenv("COPY_OF_KEY", "sk-0123456789abcdef")
    monkeypatch.setenv("GITHUB_TOKEN", "theirs")
    options = ["--port", "0", "--async-mode", mode, "--terminal", "--log"]
    written, processes = tmp_path / "project/env", tmp_path / "project/processes"
    typed = "env > env; (setsid sleep 600 & echo $! $$ > part; mv part processes); : unlogged\n"
    with started(tmp_path, *options) as (process, _):
        with terminal_of(tmp_path / "data", typed):
            assert wait_until(processes.exists)
            process.kill()
            process.wait(PATIENCE)
        numbers = processes.read_text().split()
    assert len(numbers) == 2
    assert wait_until(lambda: not any(Path("/proc", number).exists() for number in numbers))
    environment = written.read_text()
    assert "GITHUB_TOKEN=theirs\n" in environment
    assert "sk-0123456789abcdef" not in environment
    kept = [path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert not any(b"unlogged" in data for data in kept)


def test_terminals_that_others_can_reach_must_be_said_twice(tmp_path: Path) -> None:
    anywhere = ["--host", "0.0.0.0", "--allow-remote", "--port", "0"]  # noqa: S104 - that is tried
    with started(tmp_path, *anywhere, "--terminal=remote") as (process, _):
        assert process.poll() is None
