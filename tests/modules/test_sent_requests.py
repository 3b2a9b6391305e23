"""Requests as they were sent: kept to the byte, through everything that bends or shortens them."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.events import CommandAnswered, Warned
from modules.sent_requests.request_log import RequestLog, SentRequest
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import run_turn
from tests.simulator import Call, Cut, Refuse, Say, Simulator, Step, Think
from tests.simulator.server import ReceivedRequest
from utils.api_client import ApiClient
from utils.i18n import UserError

BODIES = [b'{"a":[1', b'{"a":[1,2],"b":1}', b'{"a":[1,2,3],"b":1}', b"{}", b'{"a":9}']


def compact(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


@contextmanager
def client(server: Simulator) -> Iterator[ApiClient]:
    one = ApiClient(server.url, "sk-test", model="deepseek-flash", retries=2)
    try:
        yield one
    finally:
        one.close()


@contextmanager
def session(base: Path, server: Simulator) -> Iterator[AssembledTerminal]:
    with (
        client(server) as model,
        assembled_terminal(base, model=model, summary_prompt="Sum it up.") as one,
    ):
        yield one


def exported(one: AssembledTerminal, name: str) -> list[dict[str, Any]]:
    (answer,) = run_turn(one.terminal, f"/export {name}")
    assert isinstance(answer, CommandAnswered)
    assert answer.ok, answer
    found: list[dict[str, Any]] = json.loads((one.root / name).read_text())["requests"]
    return found


def play(base: Path, script: Sequence[Step], *lines: str) -> tuple[list[bytes], list[Any]]:
    """Say *lines* to the script; return what the server got and what is exported."""
    with Simulator(script) as server, session(base, server) as one:
        for line in lines:
            run_turn(one.terminal, line)
        return [request.raw for request in server.requests], exported(one, "a.json")


@pytest.mark.parametrize(
    ("script", "lines", "steps"),
    [
        ([Call("list_files"), Say("Done.")], ["look, 看一看"], [1, 2]),
        ([(Think("Hm."), Call("list_files")), Say("a"), Say("b")],
         ["/think", "look", "/fast", "again"], [1, 2, 1]),
        ([Refuse(503), Call("list_files"), (Say("ha"), Cut()), Say("Done.")], ["look"],
         [1, 1, 2, 2]),
        ([Say("a"), Say("b")], ["one", "/model deepseek-v4-pro", "two"], [1, 1]),
        ([Say("a" * 9_000), Say("b"), Say("## Task\nsummed up\n" * 3), Say("c")],
         ["one " * 900, "two", "/compact", "three"], [1, 1, 2, 1]),
    ],
    ids=["calls", "thinking", "retries", "models", "compaction"],
)  # fmt: skip
def test_what_is_exported_is_what_the_server_got_to_the_byte(
    tmp_path: Path, script: list[Step], lines: list[str], steps: list[int]
) -> None:
    got, requests = play(tmp_path, script, *lines)
    assert [compact(one["body"]) for one in requests] == got
    assert [one["step"] for one in requests] == steps


def test_requests_of_a_server_that_takes_another_shape_are_kept_as_they_went_out(
    tmp_path: Path,
) -> None:
    refusal = Refuse(400, json.dumps({"error": {"message": "Unknown field: thinking"}}))
    got, requests = play(tmp_path, [refusal, Say("Done.")], "hi")
    assert [compact(one["body"]) for one in requests] == got


def test_a_session_that_goes_on_later_still_has_all_its_requests(tmp_path: Path) -> None:
    with Simulator([Call("list_files"), Say("a"), Say("b")]) as server:
        with session(tmp_path, server) as one:
            run_turn(one.terminal, "look")
            begun = one.terminal.session
        with session(tmp_path, server) as again:
            again.terminal.resume(begun)
            run_turn(again.terminal, "again")
            requests = exported(again, "b.json")
        assert [compact(one["body"]) for one in requests] == [one.raw for one in server.requests]
        assert [(one["turn"], one["step"]) for one in requests] == [(1, 1), (1, 2), (2, 1)]


def test_a_secret_that_was_learnt_later_is_in_no_exported_request(tmp_path: Path) -> None:
    value = "ghp_0123456789abcdefghij"
    with (
        Simulator(
            [Say("I keep it."), Call("create_file", path="a", content="x"), Say("Yes.")]
        ) as server,
        session(tmp_path, server) as one,
    ):
        run_turn(one.terminal, f"the token is {value}")
        (one.root / ".env").write_text(f"API_TOKEN={value}\n")
        run_turn(one.terminal, "and now?")
        requests = exported(one, "a.json")
    assert len(requests) == 3
    assert value not in json.dumps(requests)


def test_a_disk_that_takes_nothing_stops_no_task_and_is_told_once(tmp_path: Path) -> None:
    with (
        Simulator([Call("list_files"), Say("Done.")]) as server,
        session(tmp_path, server) as one,
    ):
        one.data.requests.write_text("in the way")
        events = run_turn(one.terminal, "look")
    told = [str(event.what) for event in events if isinstance(event, Warned)]
    assert len([what for what in told if "Cannot save requests" in what]) == 1


def keep(log: RequestLog, *bodies: bytes) -> None:
    for number, body in enumerate(bodies, 1):
        log.append("s", SentRequest(1, number, 0.5, body))


def kept(folder: Path) -> list[bytes]:
    return [request.body for request in RequestLog(folder).read("s")]


def test_processes_that_take_turns_keep_what_each_sent(tmp_path: Path) -> None:
    one, other = RequestLog(tmp_path), RequestLog(tmp_path)
    said = [BODIES[0], b"{}", BODIES[1], BODIES[2]]
    for log, body in zip((one, other, one, other), said, strict=True):
        keep(log, body)
    assert kept(tmp_path) == said
    other.forget("s")
    keep(one, BODIES[1])
    assert kept(tmp_path) == [BODIES[1]]


def test_a_log_holds_bodies_of_any_kind_readable_by_their_owner_only(tmp_path: Path) -> None:
    keep(RequestLog(tmp_path), *BODIES)
    keep(RequestLog(tmp_path), *BODIES[:2])
    assert kept(tmp_path) == [*BODIES, *BODIES[:2]]
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
    assert kept(tmp_path / "none") == []


def test_a_frame_that_a_kill_left_in_part_is_cut_off_before_the_next(tmp_path: Path) -> None:
    keep(RequestLog(tmp_path), *BODIES)
    whole = (tmp_path / "s").read_bytes()
    for size in range(len(whole) - 20, len(whole)):
        (tmp_path / "s").write_bytes(whole[:size])
        assert kept(tmp_path) == BODIES[:-1]
        keep(RequestLog(tmp_path), b"new")
        assert kept(tmp_path) == [*BODIES[:-1], b"new"]


def test_a_log_takes_little_more_than_what_was_said_and_is_bounded(tmp_path: Path) -> None:
    log = RequestLog(tmp_path, max_bytes=10_000)
    said = b""
    for number in range(200):
        said += b'{"number":%d}' % number
        keep(log, said + b"tail")
    assert (tmp_path / "s").stat().st_size < 10_000 + 5_000
    assert kept(tmp_path)[-1] == said + b"tail"


def test_a_damaged_log_is_said_to_be(tmp_path: Path) -> None:
    keep(RequestLog(tmp_path), *BODIES)
    data = bytearray((tmp_path / "s").read_bytes())
    data[-1] ^= 1
    (tmp_path / "s").write_bytes(data)
    with pytest.raises(UserError, match="Cannot read or save"):
        kept(tmp_path)


def test_what_a_session_sent_is_deleted_with_it(tmp_path: Path) -> None:
    log = RequestLog(tmp_path)
    keep(log, *BODIES)
    log.forget("s")
    log.forget("s")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "s").mkdir()
    with pytest.raises(UserError, match="Cannot read or save"):
        log.forget("s")


def test_what_helpers_send_is_kept_with_the_calls_that_they_are(tmp_path: Path) -> None:
    def answer(request: ReceivedRequest) -> Step:
        steps = sum(one["role"] == "assistant" for one in request.messages)
        if request.last_user.startswith("Task: "):
            return Call("list_files", depth=1 + steps) if steps < 3 else Say("Found.")
        calls = (Call("delegate", task="one"), Call("delegate", task="two"))
        return Say("Done.") if steps else calls

    with Simulator(answer) as server, session(tmp_path, server) as one:
        run_turn(one.terminal, "go")
        first = exported(one, "a.json")
        run_turn(one.terminal, "/context")
    with Simulator(answer) as other, session(tmp_path, other) as one:
        one.terminal.resume()
        run_turn(one.terminal, "and then")
        both = exported(one, "b.json")
    sent = [*(request.raw for request in server.requests), *(one.raw for one in other.requests)]
    assert sorted(compact(request["body"]) for request in both) == sorted(sent)
    assert both[: len(first)] == first
    by_parent: dict[str, list[int]] = {}
    for request in first:
        by_parent.setdefault(request.get("parent", ""), []).append(request["step"])
    assert by_parent.pop("") == [1, 2]
    assert list(by_parent.values()) == [[1, 2, 3, 4]] * 2
    for parent in by_parent:
        bodies = [one["body"]["messages"] for one in first if one.get("parent") == parent]
        assert all(now[: len(old)] == old for old, now in zip(bodies, bodies[1:], strict=False))


def test_bodies_of_helpers_come_back_whoever_wrote_between(tmp_path: Path) -> None:
    names = ["", "d1", "d2", "d1", "", "d2", "d1"]
    bodies = [f'{{"of":"{name}","n":"{"x" * n}"}}'.encode() for n, name in enumerate(names)]
    wanted = [
        SentRequest(1 + n // 4, 1, float(n), body, name)
        for n, (name, body) in enumerate(zip(names, bodies, strict=True))
    ]
    for request in wanted[:3]:
        log = RequestLog(tmp_path)  # one that begins anew knows of no body before
        log.append("s", request)
    for request in wanted[3:]:
        log.append("s", request)
    assert list(RequestLog(tmp_path).read("s")) == wanted
