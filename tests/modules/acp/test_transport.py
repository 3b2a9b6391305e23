"""Lines that are no message of the protocol, and a client that goes away: raw, without an SDK."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from modules.acp.client_link import ClientLink
from modules.assembly.start import run
from modules.translator import Translator
from tests.modules.acp.client import HANG_SECONDS, ROOT, project_in
from tests.simulator import Say, Simulator, Stall
from utils.i18n import UserError
from utils.waiting import Stop

INITIALIZE = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"protocolVersion": 1}}
BAD_LINES: list[tuple[bytes, int, Any]] = [
    (b"{", -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"[]", -32600, None),
    (b"7", -32600, None),
    (b'{"jsonrpc":"2.0","id":1}', -32600, 1),
    (b'{"jsonrpc":"2.0","id":[1],"method":"initialize"}', -32600, None),
    (b'{"jsonrpc":"2.0","id":2,"method":["initialize"]}', -32600, 2),
    (b'{"jsonrpc":"2.0","id":3,"method":"session/list","params":"x"}', -32600, 3),
    (b'{"jsonrpc":"2.0","id":4,"method":"initialize"}', -32602, 4),
    (b'{"jsonrpc":"2.0","id":5,"method":"session/new","params":[]}', -32602, 5),
    (b'{"jsonrpc":"2.0","id":6,"method":"session/what","params":{}}', -32601, 6),
    (b'{"jsonrpc":"2.0","id":7,"method":"_theirs/what","params":{}}', -32601, 7),
    (
        b'{"jsonrpc":"2.0","id":8,"method":"session/list","params":'
        b'{"cwd":"/\\ud800","_meta":{"cursor":[],"self":1}}}',
        -32602,
        8,
    ),
]


@contextmanager
def program(base: Path, *options: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "ONEFOLD_DATA_DIR": str(base / "data"), **variables}
    command = [sys.executable, str(ROOT / "main.py"), "acp", *options]
    with subprocess.Popen(
        command,
        bufsize=0,  # so that `communicate` returns all that was not read before
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=base,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_of(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def request(number: int, method: str, **params: Any) -> bytes:
    return line_of({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def answers(out: bytes) -> list[dict[str, Any]]:
    """Return the answers in *out*, every line of which must be a message."""
    messages = [json.loads(line) for line in out.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return [message for message in messages if "method" not in message]


def test_what_is_no_message_is_answered_and_hurts_nothing(tmp_path: Path) -> None:
    notifications = [
        b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}\n',
        b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}\n',
        b'{"jsonrpc":"2.0","id":99,"result":{}}\n\n',  # nobody asked
    ]
    lines = [*(line + b"\n" for line, _, _ in BAD_LINES), *notifications, line_of(INITIALIZE)]
    with program(tmp_path, "--offline") as process:
        out, _ = process.communicate(b"".join(lines).removesuffix(b"\n"), HANG_SECONDS)
    refused = [one for one in answers(out) if "error" in one]
    [initialized] = [one for one in answers(out) if "result" in one]
    found = sorted((str(one["id"]), one["error"]["code"]) for one in refused)
    assert found == sorted((str(id_), code) for _, code, id_ in BAD_LINES)
    assert (initialized["id"], initialized["result"]["protocolVersion"]) == ("i", 1)
    assert process.returncode == 0


def test_a_prompt_that_cannot_be_is_refused(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    with program(tmp_path, "--offline") as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(request(1, "session/new", cwd=str(project), mcpServers=[]))
        process.stdin.flush()
        session = json.loads(process.stdout.readline())["result"]["sessionId"]
        blocks: list[list[dict[str, str]]] = [
            [],
            [{"type": "text", "text": "  "}],
            [{"type": "text", "text": "x" * 1_000_001}],
            [{"type": "audio", "data": "", "mimeType": "audio/wav"}],
            [{"type": "image", "data": "no base64!", "mimeType": "image/png"}],
            [{"type": "smell"}],
        ]
        prompts = [
            request(n, "session/prompt", sessionId=session, prompt=prompt)
            for n, prompt in enumerate(blocks, 10)
        ]
        out, _ = process.communicate(b"".join(prompts), HANG_SECONDS)
    assert [one["error"]["code"] for one in answers(out)] == [-32602] * len(blocks)


def test_a_client_that_goes_away_stops_what_runs(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    with (
        Simulator([(Say("Hm"), Stall())]) as server,
        program(tmp_path, DEEPSEEK_BASE_URL=server.url, DEEPSEEK_API_KEY="sk-test") as process,
    ):
        assert process.stdin
        assert process.stdout
        process.stdin.write(request(1, "session/new", cwd=str(project), mcpServers=[]))
        process.stdin.flush()
        session = json.loads(process.stdout.readline())["result"]["sessionId"]
        text = {"type": "text", "text": "Go"}
        process.stdin.write(request(2, "session/prompt", sessionId=session, prompt=[text]))
        process.stdin.flush()
        while b"agent_message_chunk" not in process.stdout.readline():
            pass
        out, _ = process.communicate(timeout=HANG_SECONDS)
    assert [one["result"]["stopReason"] for one in answers(out)] == ["cancelled"]
    assert process.returncode == 0


def test_a_session_that_another_process_runs_is_read_and_not_written(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    text = {"type": "text", "text": "list the files"}
    with program(tmp_path, "--offline") as holder, program(tmp_path, "--offline") as reader:
        assert holder.stdin
        assert holder.stdout
        holder.stdin.write(request(1, "session/new", cwd=str(project), mcpServers=[]))
        session = json.loads(holder.stdout.readline())["result"]["sessionId"]
        load = request(2, "session/load", sessionId=session, cwd=str(project), mcpServers=[])
        prompt = request(3, "session/prompt", sessionId=session, prompt=[text])
        assert reader.stdin
        assert reader.stdout
        reader.stdin.write(load)
        while b'"id":2' not in reader.stdout.readline():
            pass
        out, _ = reader.communicate(prompt, HANG_SECONDS)
        [refused] = answers(out)
        assert "is open in another Onefold" in refused["error"]["message"]
        holder.send_signal(signal.SIGTERM)
        assert holder.wait(HANG_SECONDS) == 128 + signal.SIGTERM


@pytest.mark.parametrize("words", [["--web"], ["-p", "hello"], ["--project", "."]])
def test_what_belongs_to_another_screen_is_refused(words: list[str]) -> None:
    with pytest.raises(UserError, match=f"{words[0]} cannot be used with acp"):
        run(["acp", *words], Translator("en", {}))


def test_a_missing_package_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith(("acp.", "modules.acp"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "acp", None)
    with pytest.raises(UserError, match=r"agent-client-protocol.*pip install -r "):
        run(["acp"], Translator("en", {}))


def test_what_is_sent_after_the_connection_is_over_is_dropped() -> None:
    class Connection:
        async def session_update(self, *_: Any) -> None:
            pytest.fail("nobody is there")

    loop = asyncio.new_event_loop()
    loop.close()
    ClientLink(cast(Any, Connection()), loop).send("session", None, Stop())
