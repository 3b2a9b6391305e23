"""`mcp` on its pipes: hostile lines, clients that die, kills, and what does not go with it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from modules.assembly.start import run
from modules.translator import Translator
from tests.modules.mcp_server.client import (
    HANG_SECONDS,
    ROOT,
    command,
    environment,
    project_in,
)
from utils.i18n import UserError

INITIALIZE: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {"listChanged": True}},
    "clientInfo": {"name": "test", "version": "1"},
}


@contextmanager
def program(base: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, *command(base, *options)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(base),
        cwd=base,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


def request(number: int, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def call(number: int, name: str, **arguments: Any) -> bytes:
    meta = {"progressToken": number}
    return request(number, "tools/call", name=name, arguments=arguments, _meta=meta)


def begin(process: subprocess.Popen[bytes], *lines: bytes) -> None:
    assert process.stdin
    process.stdin.write(request(0, "initialize", **INITIALIZE))
    process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    process.stdin.write(b"".join(lines))
    process.stdin.flush()


def read_until(process: subprocess.Popen[bytes], word: bytes) -> None:
    assert process.stdout
    while word not in (line := process.stdout.readline()):
        assert line, "it ended"


def answers(out: bytes) -> dict[Any, Any]:
    """Return the answers by their ids; every line must be one message."""
    messages = [json.loads(line) for line in out.splitlines()]
    return {one.get("id"): one for one in messages if "method" not in one}


HOSTILE = [
    b"\n",
    b"nonsense\n",
    b"[1, 2]\n",
    b'{"jsonrpc": "2.0", "id": true, "method": "ping"}\n',
    b'{"jsonrpc": "2.0", "id": 51, "method": "tools/call", "params": [1]}\n',
    b'{"jsonrpc": "2.0", "id": 52, "method": "\\ud800"}\n',
    b"[" * 100_000 + b"\n",
    b'{"jsonrpc": "2.0", "method": "$/whatever"}\n',
    b'{"jsonrpc": "2.0", "id": "nobody asked", "result": {}}\n',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}\n',
    b'{"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}\n',
    b"\xff\xfe\n",
]


def test_hostile_lines_are_answered_and_the_rest_goes_on(tmp_path: Path) -> None:
    project_in(tmp_path)
    lines = [
        *HOSTILE,
        request(53, "tools/call", name=7),
        request(54, "no/such/method"),
        request(55, "tools/call", name="list_files", arguments={"path": 10**400}),
        call(56, "read_file", path="\ud800", **{"x\ud800": 1}),
        call(57, "create_file", path="\ud800", content="\ud800"),
        call(1, "list_files"),
    ]
    with program(tmp_path) as process:
        begin(process, *lines)
        out, _ = process.communicate(timeout=HANG_SECONDS)
    found = answers(out)
    assert found[0]["result"]["serverInfo"]["name"] == "onefold"
    assert [found[number]["error"]["code"] for number in (51, 52, 54)] == [-32600, -32601, -32601]
    assert "error" in found[53]
    assert [found[number]["result"]["isError"] for number in (55, 56, 57)] == [True, True, False]
    assert "a.txt" in found[1]["result"]["content"][0]["text"]
    assert process.returncode == 0


@pytest.mark.parametrize("how", ["leaves", "dies", "is told to end", "is killed"])
def test_whatever_ends_it_in_a_call_nothing_is_lost(tmp_path: Path, how: str) -> None:
    project = project_in(tmp_path)
    with program(tmp_path) as process:
        assert process.stdin
        assert process.stdout
        begin(process, call(1, "create_file", path="b.txt", content="x\n"))
        read_until(process, b'"id":1')
        process.stdin.write(
            call(2, "run_command", command="echo x > c.txt; echo be''gun; sleep 300")
        )
        process.stdin.flush()
        read_until(process, b"begun")
        match how:
            case "leaves":
                process.stdin.close()
            case "dies":
                process.stdout.close()
                process.stdin.close()
            case "is told to end":
                process.send_signal(signal.SIGTERM)
            case _:
                process.kill()
        code = process.wait(HANG_SECONDS)
    assert code == {"is told to end": 128 + signal.SIGTERM, "is killed": -signal.SIGKILL}.get(
        how, 0
    )
    resumed = [sys.executable, str(ROOT / "main.py"), "--project", str(project), "--resume"]
    for words in (["-p", "/undo"], ["-p", "/undo"]):
        subprocess.run(
            [*resumed, *words],
            env=environment(tmp_path),
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=HANG_SECONDS,
        )
    assert [path.name for path in project.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    "words",
    [["--web"], ["-p", "hello"], ["hello"], ["--port", "3"], ["--host", "::"], ["--allow-remote"]],
)
def test_what_belongs_to_another_screen_is_refused(words: list[str]) -> None:
    with pytest.raises(UserError, match="cannot be used with mcp"):
        run(["mcp", *words], Translator("en", {}))


def test_a_missing_package_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith(("mcp.", "modules.mcp_server"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(UserError, match=r"package mcp. Install it: .*pip install -r "):
        run(["mcp"], Translator("en", {}))
