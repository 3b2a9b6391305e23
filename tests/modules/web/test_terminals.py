"""Terminals of the page: real shells over real sockets, and who may have none."""

from __future__ import annotations

import os
import threading
from base64 import b64decode
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import socketio

from core.feature import Feature
from modules.files.project import Project
from modules.outputs import Outputs
from modules.sandbox.sandbox import Sandbox
from modules.shells import shell as shell_module
from modules.shells import shells as shells_module
from modules.storage.data_folder import DataFolder
from modules.terminal_ops import TerminalOps
from tests.modules.sandbox.sandbox_home import children_of, late, wait_until
from tests.modules.web.serving import (
    TIMEOUT_SECONDS,
    OrderedEngineClient,
    Page,
    RunningServer,
)
from utils.waiting import Stop

Serve = Callable[..., AbstractContextManager[RunningServer]]
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "SHELL": "/bin/bash",
    "LANG": "C.UTF-8",
    "EDITOR": "my editor",
}


def make_features(project: Project, data: DataFolder) -> list[Feature]:
    sandbox = Sandbox(project.root, hidden=[data.root], cache_folder=data.root)
    return [TerminalOps(project, late(sandbox), Stop(), Outputs(data.outputs, reader="read_file"))]


class Window:
    """What a page shows of one terminal, drawn at once unless it *is_slow*."""

    def __init__(self, page: Page, number: int, *, is_slow: bool = False) -> None:
        self.page, self.number = page, number
        self.is_slow = is_slow
        self.data = b""
        self.end: dict[str, Any] | None = None
        self.sizes: list[tuple[int, int]] = []
        self.fresh = 0
        self.at = 0
        self._news = threading.Condition()
        page.client.on("terminal", self._on_message)
        answer = page.call("terminal-show", terminal=number)
        assert answer["ok"], answer

    def _on_message(self, message: dict[str, Any]) -> None:
        if message["terminal"] != self.number:
            return
        with self._news:
            if "data" in message:
                self.fresh += "fresh" in message
                data = b64decode(message["data"], validate=True)
                self.data = data if "fresh" in message else self.data + data
                self.at = message["at"]
                if not self.is_slow:
                    self.draw()
            elif "lines" in message:
                self.sizes.append((message["lines"], message["columns"]))
            else:
                self.end = message
            self._news.notify_all()

    def draw(self) -> None:
        self.page.client.emit("terminal-drawn", {"terminal": self.number, "at": self.at})

    def type(self, text: str) -> None:
        answer = self.page.call("terminal-type", terminal=self.number, text=text)
        assert answer["ok"], answer

    def wait_for(self, is_so: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(is_so, TIMEOUT_SECONDS), self.data[-2_000:]

    def wait_for_text(self, text: str) -> None:
        self.wait_for(lambda: text.encode() in self.data)

    def wait_for_end(self) -> dict[str, Any]:
        self.wait_for(lambda: self.end is not None)
        assert self.end is not None
        return self.end


def open_window(page: Page, place: str = "outside") -> Window:
    answer = page.call("terminal-open", place=place, lines=24, columns=80)
    assert answer["ok"], answer
    return Window(page, answer["terminal"])


@pytest.fixture
def served(serve: Serve) -> Iterator[RunningServer]:
    with serve(make_features=make_features, shell_environment=ENVIRONMENT) as server:
        yield server


@contextmanager
def two_pages(served: RunningServer) -> Iterator[tuple[Page, Page]]:
    with served.page() as first, served.page() as second:
        yield first, second


def test_the_shell_of_the_person_works_in_the_folder_and_tells_its_exit_code(
    served: RunningServer,
) -> None:
    with served.page() as page:
        window = open_window(page)
        window.type('echo "<$PWD|$EDITOR|$TERM|$(stty size)|$0>"; tty\n')
        window.wait_for_text(f"<{served.project}|my editor|xterm-256color|24 80|-/bin/bash>")
        window.wait_for_text("/dev/pts/")
        window.type("echo 漢字 > made.txt; cat made.txt; exit 7\n")
        assert window.wait_for_end()["code"] == 7
        assert "漢字".encode() in window.data.split(b"exit 7")[-1]
        assert (served.project / "made.txt").read_text() == "漢字\n"
        assert page.call("terminal-terminals")["terminals"] == [
            {"terminal": 1, "place": "outside", "running": False}
        ]


def test_the_one_in_the_sandbox_sees_the_project_and_nothing_of_the_person(
    served: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text("private")
    with served.page() as page:
        window = open_window(page, "sandbox")
        window.wait_for_text("sandbox")  # the name of the machine there, or in its prompt
        window.type(f"cat '{tmp_path}/outside.txt'; echo \"<$EDITOR>\"; stty size\n")
        window.wait_for_text("24 80")
        assert b"private" not in window.data
        assert b"<my editor>" not in window.data
        window.type("touch made; sleep 600 & echo st''arted\n")
        window.wait_for_text("started")
        assert (served.project / "made").exists()
        page.call("terminal-close", terminal=window.number)
        assert page.call("terminal-terminals")["terminals"] == []


def test_an_endless_output_waits_for_the_page_and_ends_by_a_key(served: RunningServer) -> None:
    with served.page() as page:
        window = open_window(page)
        window.wait_for(lambda: bool(window.data))
        window.is_slow = True
        window.type("yes | head -c 3000000; echo d''one\n")
        shell = served.server._shells
        assert shell is not None
        one = shell.find(window.number)
        assert wait_until(lambda: not one._has_room(0))
        most = shell_module._MAX_BEHIND + 64 * 1024 + shell_module._PACKET_BYTES
        assert one.total - one._viewers[next(iter(one._viewers))].drawn <= most
        window.is_slow = False
        window.draw()
        window.wait_for_text("done")
        assert window.data.count(b"y\r\n") == 1_500_000  # nothing of it was lost on the way
        window.type("yes\n")
        window.wait_for(lambda: len(window.data) > 9_000_000)
        window.type("\x03")
        window.type("echo on''ward\n")
        window.wait_for_text("onward")


def test_two_pages_share_one_and_a_later_one_sees_what_is_kept(served: RunningServer) -> None:
    with two_pages(served) as (first, second):
        one = open_window(first)
        one.type("printf '\\033[?2004h'; echo be''fore\n")
        one.wait_for_text("before")
        other = Window(second, one.number)
        other.wait_for_text("before")
        assert other.fresh == 1
        other.type("echo to''gether\n")
        one.wait_for_text("together")
        other.wait_for_text("together")
        second.call("terminal-resize", terminal=one.number, lines=40, columns=100)
        one.wait_for(lambda: one.sizes[-1] == (40, 100))
        one.type("stty size\n")
        one.wait_for_text("40 100")
        first.disconnect()
        other.type("echo st''ill\n")
        other.wait_for_text("still")
        first.connect()


def test_a_page_that_comes_back_draws_the_newest_with_its_modes(served: RunningServer) -> None:
    with served.page() as page:
        window = open_window(page)
        window.type("printf '\\033[?1049h\\033[?25l'; seq 100000; echo do''ne\n")
        window.wait_for_text("done")
        page.break_connection()
        page.connect()
        again = Window(page, window.number)
        again.wait_for_text("done")
        assert again.data.startswith(b"\x1b[?")
        assert b"\x1b[?1049h" in again.data[:200]
        assert b"\x1b[?25l" in again.data[:200]
        assert len(again.data) < 300_000
        again.type("echo al''ive\n")
        again.wait_for_text("alive")


@pytest.mark.parametrize("place", ["outside", "sandbox"])
def test_closing_ends_all_that_it_has_started(served: RunningServer, place: str) -> None:
    before = set(children_of(os.getpid()))
    with served.page() as page:
        window = open_window(page, place)
        window.type("(trap '' HUP TERM; setsid sleep 600) & sleep 601 & echo st''arted\n")
        window.wait_for_text("started")
        assert set(children_of(os.getpid())) - before
        page.call("terminal-close", terminal=window.number)
        assert set(children_of(os.getpid())) - before == set()
        refused = page.call("terminal-type", terminal=window.number, text="x")
        assert refused["code"] == "failed"


def test_the_end_of_the_server_ends_them(serve: Serve) -> None:
    before = set(children_of(os.getpid()))
    with serve(make_features=make_features, shell_environment=ENVIRONMENT) as served:
        with served.page() as page:
            window = open_window(page)
            window.type("setsid sleep 600 & echo st''arted\n")
            window.wait_for_text("started")
        assert set(children_of(os.getpid())) - before  # the page has gone, the shell has not
    assert set(children_of(os.getpid())) - before == set()


def test_one_that_no_page_shows_ends_in_time(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells_module.Shells.__init__, "__kwdefaults__", {"alone_seconds": 0.01})
    with (
        serve(make_features=make_features, shell_environment=ENVIRONMENT) as served,
        served.page() as page,
    ):
        page.call("terminal-open", place="outside", lines=24, columns=80)
        assert wait_until(lambda: not page.call("terminal-terminals")["terminals"])


def test_there_are_only_so_many(served: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells_module, "MAX_SHELLS", 1)
    with served.page() as page:
        open_window(page)
        refused = page.call("terminal-open", place="outside", lines=24, columns=80)
        assert (refused["ok"], refused["code"]) == (False, "failed")
        assert "Close one first" in refused["error"]


def test_what_is_no_request_is_refused(served: RunningServer) -> None:
    with served.page() as page:
        for wrong in (
            {"place": "elsewhere", "lines": 24, "columns": 80},
            {"place": "outside", "lines": 0, "columns": 80},
            {"place": "outside", "lines": 24},
        ):
            assert page.call("terminal-open", **wrong)["code"] == "bad_request"
        assert page.call("terminal-show", terminal=9)["code"] == "failed"
        assert page.call("terminal-terminals")["terminals"] == []


def test_what_is_typed_waits_for_a_slow_start(
    served: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_module, "_INPUT_SECONDS", 0)
    is_typing, run_outside = threading.Event(), Sandbox.run_outside

    def late_run(*arguments: Any) -> Generator[str, None, Any]:
        assert is_typing.wait(TIMEOUT_SECONDS)
        return (yield from run_outside(*arguments))

    write = shell_module.Shell._write

    def tried(shell: shell_module.Shell, data: bytes) -> int | None:
        written = write(shell, data)
        is_typing.set()
        return written

    monkeypatch.setattr(Sandbox, "run_outside", late_run)
    monkeypatch.setattr(shell_module.Shell, "_write", tried)
    with served.page() as page:
        window = open_window(page)
        window.type("echo ty''ped\n")
        window.wait_for_text("typed")


def test_a_page_cannot_speak_for_another(served: RunningServer) -> None:
    with two_pages(served) as (first, second):
        window = open_window(first)
        window.wait_for(lambda: bool(window.data))
        sid = first.client.get_sid()
        assert second.call("terminal-show", page=sid, terminal=window.number)["ok"]
        shells = served.server._shells
        assert shells is not None
        viewers = shells.find(window.number)._viewers
        assert list(viewers) == [sid, second.client.get_sid()]


def test_output_is_one_packet_that_nothing_can_tear_apart(
    served: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    packets: list[object] = []
    trigger = OrderedEngineClient._trigger_event

    def told(client: OrderedEngineClient, event: str, *given: Any, **options: Any) -> Any:
        packets.extend(given[:1] if event == "message" else ())
        return trigger(client, event, *given, **options)

    monkeypatch.setattr(OrderedEngineClient, "_trigger_event", told)
    with served.page() as page:
        window = open_window(page)
        window.wait_for(lambda: bool(window.data))
        assert not [packet for packet in packets if isinstance(packet, bytes)]


def test_a_page_that_goes_while_it_is_shown_one_is_forgotten(
    served: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asking, has_left, is_shown = threading.Event(), threading.Event(), threading.Event()
    show, leave = shell_module.Shell.show, shells_module.Shells.leave

    def late_show(shell: shell_module.Shell, page: str) -> None:
        is_asking.set()
        assert has_left.wait(TIMEOUT_SECONDS)
        show(shell, page)
        is_shown.set()

    def left(shells: shells_module.Shells, page: str) -> None:
        leave(shells, page)
        has_left.set()

    monkeypatch.setattr(shell_module.Shell, "show", late_show)
    monkeypatch.setattr(shells_module.Shells, "leave", left)
    with served.page() as page:
        number = page.call("terminal-open", place="outside", lines=24, columns=80)["terminal"]
        page.client.emit("terminal-show", {"terminal": number})
        assert is_asking.wait(TIMEOUT_SECONDS)
    shells = served.server._shells
    assert shells is not None
    assert is_shown.wait(TIMEOUT_SECONDS)
    assert wait_until(lambda: not shells.find(number).is_watched)


def test_all_are_told_to_end_before_one_is_waited_for(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_ended, run_outside = threading.Barrier(2, timeout=TIMEOUT_SECONDS), Sandbox.run_outside

    def run_together(*arguments: Any) -> Generator[str, None, Any]:
        result = yield from run_outside(*arguments)
        with suppress(threading.BrokenBarrierError):
            have_ended.wait()
        return result

    monkeypatch.setattr(Sandbox, "run_outside", run_together)
    with (
        serve(make_features=make_features, shell_environment=ENVIRONMENT) as served,
        served.page() as page,
    ):
        for _ in range(2):
            window = open_window(page)
            window.type("echo st''arted\n")
            window.wait_for_text("started")
    assert not have_ended.broken


def test_without_the_setting_there_is_nothing(serve: Serve) -> None:
    with serve(make_features=make_features) as served, served.page() as page:
        assert "terminals" not in served.ask("GET", "/api/status").json
        assert served.server._shells is None
        answers: list[object] = []
        page.client.emit(
            "terminal-open",
            {"place": "outside", "lines": 24, "columns": 80},
            callback=answers.append,
        )
        page.call("watch", folders=[], files=[])  # answered later than what came before
        assert answers == []


def test_where_no_shell_can_run_none_is_promised(serve: Serve) -> None:
    with serve(shell_environment=ENVIRONMENT) as served:
        assert served.server._shells is None
        assert "terminals" not in served.ask("GET", "/api/status").json


def test_with_it_the_page_is_told(served: RunningServer) -> None:
    assert served.ask("GET", "/api/status").json["terminals"] is True


def refusals(served: RunningServer) -> Iterator[tuple[dict[str, str], str]]:
    """Yield headers and a query of who may have no terminal."""
    headers = served.login()
    key = headers.pop("X-Onefold-Key")
    yield {}, ""  # who has not logged in
    yield headers, ""  # with the cookie that every port of the host gets, but without the key
    yield headers | {"Origin": "http://evil.example"}, f"?key={key}"
    yield headers | {"Origin": f"http://127.0.0.1:{served.server.port + 1}"}, f"?key={key}"
    yield headers | {"Origin": "null"}, f"?key={key}"  # a sandboxed frame
    yield headers | {"Sec-Fetch-Site": "same-site"}, f"?key={key}"
    yield {"Authorization": "Bearer wrong"}, ""


def test_no_other_origin_nor_who_has_no_key_gets_one(served: RunningServer) -> None:
    for headers, query in refusals(served):
        client = socketio.Client(reconnection=False)
        with pytest.raises(socketio.exceptions.ConnectionError):
            client.connect(
                f"http://{served.host}{query}",
                headers=headers,
                transports=["websocket"],
                wait_timeout=TIMEOUT_SECONDS,
            )
    shells = served.server._shells
    assert shells is not None
    assert shells.rows() == []


def test_nothing_of_it_is_on_the_disk(served: RunningServer) -> None:
    with served.page() as page:
        window = open_window(page)
        window.type("stty -echo; echo se''cretword; read -r word; echo ta''ken\n")
        window.wait_for_text("secretword")
        window.type("hunter2hunter2\n")
        window.wait_for_text("taken")
        assert b"hunter2" not in window.data
    kept = [path.read_bytes() for path in served.data.rglob("*") if path.is_file()]
    assert not any(b"secretword" in data or b"hunter2" in data for data in kept)
