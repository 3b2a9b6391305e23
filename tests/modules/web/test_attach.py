"""The terminal that joins a running server sees the same session and can work in it."""

from __future__ import annotations

import asyncio
import io
import random
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import Mock

import pytest

from core.conversation.messages import Record, StateRecord
from core.main_terminal import MainTerminal
from modules.cli.attach.attached_prompt import AttachedPrompt
from modules.cli.attach.client import AttachClient, attach
from modules.cli.attach.http import Packet, ServerLink
from modules.cli.attach.listener import EventListener
from modules.cli.input.keyboard import TypedAhead
from modules.translator import Translator
from modules.web.http.auth import published_server_file, server_file
from modules.web.servers.event_loop import AsyncMode
from tests.modules.cli.terminal import CHECKOUT, PYTHON, Terminal
from tests.modules.cli.terminal import terminal as terminal  # the fixture
from tests.modules.sandbox.sandbox_home import wait_until
from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer
from tests.modules.web.test_serve import started
from tests.scripted_model import call_reply, text_reply
from utils.i18n import UserError, phrase
from utils.llm.completion import Delta

Serve = Callable[..., AbstractContextManager[RunningServer]]
MADE_TEST = """import pathlib, unittest

class MadeTest(unittest.TestCase):
    def test_it_is_there(self):
        self.assertTrue(pathlib.Path("a.txt").exists())
"""


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_the_terminal_and_the_page_see_the_same_session(
    serve: Serve, type_in: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        serve(text_reply("first"), call_reply("look"), text_reply("second")) as served,
        served.page() as page,
    ):
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="from the page")
            page.wait_for("state", running=False)
            type_in("from the terminal\n/status\n")
            assert attach(served.data, server.port, Translator.of("en"), session=session) == 0
            assert page.wait_for("TurnStarted", text="from the terminal")
            assert page.wait_for("CommandAnswered")["command"] == "/status"
    shown = capsys.readouterr().out
    assert "from the page" in shown
    assert shown.index("first") < shown.index("second") < shown.index("Session")


def test_without_a_server_it_says_what_to_do(
    served: RunningServer, type_in: Callable[[str], None]
) -> None:
    with pytest.raises(UserError, match="No Onefold server on port 1"):
        attach(served.data, 1, Translator.of("en"))


def join(terminal: Terminal, served: RunningServer) -> None:
    """Start a terminal that is attached to the last session of *served*."""
    attach_to(terminal, served.data, served.server.port)


def attach_to(terminal: Terminal, data: Path, port: int, first: str = "pass") -> None:
    """Attach *terminal* to the last session there, once the Python in *first* is done."""
    script = (
        f"{first}; from pathlib import Path; from modules.cli.attach.client import attach; "
        "from modules.translator import Translator; "
        f"attach(Path('{data}'), {port}, Translator.of('en'))"
    )
    program = f'cd {CHECKOUT} && {PYTHON} -c "{script}"; cat'
    terminal.tmux("new-session", "-d", "-x", "90", "-y", "30", program)


def attach_and_work(terminal: Terminal, data: Path, port: int, first: str = "pass") -> None:
    """Do as `attach_to`, and have a first task done there."""
    attach_to(terminal, data, port, first)
    terminal.wait_for_text("›")
    terminal.press("make a.txt with one", "Enter")
    terminal.see_prompt_after("a.txt is made")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_what_is_typed_in_the_attached_terminal_meanwhile_is_answered_or_queued(
    serve: Serve, terminal: Terminal
) -> None:
    gate = threading.Event()
    replies = [
        [Delta("begun"), lambda _: bool(gate.wait(120)) and None, *text_reply("done")],
        text_reply("more"),
    ]
    with serve(*replies) as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="go")
            page.wait_for("TextDelta")
            join(terminal, served)
            terminal.wait_for_text("begun")
            terminal.press("/cost", "Enter")
            terminal.wait_for_text("Cache hits")
            assert page.wait_for("CommandAnswered")["command"] == "/cost"
            terminal.press("one more", "Enter")
            terminal.wait_for_text("Waiting for the task to finish.")
            assert page.wait_for("state", running=True)["queue"] or page.wait_for("state")["queue"]
            gate.set()
            terminal.see_prompt_after("more")
            assert page.wait_for("TurnStarted", text="one more")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.parametrize("brackets", ["-p", "-d"])
def test_a_paste_in_the_attached_terminal_is_one_message_once(
    serve: Serve, terminal: Terminal, brackets: str
) -> None:
    gate = threading.Event()
    held = [Delta("begun"), lambda _: bool(gate.wait(120)) and None, *text_reply("done")]
    with (
        serve(held, text_reply("one answer"), text_reply("too much")) as served,
        served.page() as page,
    ):
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="go")
            page.wait_for("TextDelta")
            join(terminal, served)
            terminal.wait_for_text("begun")
            terminal.tmux("set-buffer", "first line\nsecond line\nthird line")
            terminal.tmux("paste-buffer", brackets)
            terminal.wait_for_text("› first line\n  second line\n  third line")
            terminal.press("Enter")
            terminal.wait_for_text("Waiting for the task to finish.")
            gate.set()
            terminal.see_prompt_after("one answer")
            terminal.press("/history", "Enter")
            assert terminal.wait_for_text("History").count("first line") >= 1
            assert page.wait_for("TurnStarted", text="first line\nsecond line\nthird line")
            assert served.server.registry.open(session).terminal.history.turn == 2


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.parametrize("key", ["C-c", "Escape"])
def test_after_a_stop_the_attached_terminal_shows_what_waits_and_sends_nothing_else(
    serve: Serve, terminal: Terminal, key: str
) -> None:
    held = [Delta("begun"), lambda stop: bool(stop.wait(120)) and None, *text_reply("done")]
    with serve(held, text_reply("answer to both")) as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="go")
            page.wait_for("TextDelta")
            join(terminal, served)
            terminal.wait_for_text("begun")
            terminal.press("do thi", "Enter")
            terminal.wait_for_text("Waiting for the task to finish.")
            page.call("send", session=session, cmd="c2", text="and that")
            terminal.press("hulf", "Left", "Left", "BSpace", "a")
            terminal.wait_for_text("› half")
            terminal.press(key)
            terminal.wait_for_text("Not sent yet")
            terminal.wait_for_text("› do thi\n  and that\n  half")
            assert len(server.registry.open(session).snapshot.state()["queue"]) == 2
            terminal.press("Up", "Up", "End", "s")
            terminal.wait_for_text("› do this\n  and that\n  half")
            terminal.press("Enter")  # on its own: in a burst of keys it is a line break
            terminal.see_prompt_after("answer to both")
            assert page.wait_for("TurnStarted", text="do this\nand that\nhalf")
            assert page.wait_for("state", running=False)["queue"] == []


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_what_waits_leaves_the_line_when_another_screen_took_it_back(
    serve: Serve, terminal: Terminal
) -> None:
    held = [Delta("begun"), lambda stop: bool(stop.wait(120)) and None, *text_reply("done")]
    with serve(held) as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="go")
            page.wait_for("TextDelta")
            page.call("send", session=session, cmd="c2", text="do that")
            page.call("stop", session=session, cmd="c3")
            page.wait_for("state", running=False)
            join(terminal, served)
            terminal.wait_for_text("› do that")
            page.call("queue", session=session, cmd="c4", op="drop", id="c2")
            terminal.wait_for(lambda screen: "› do that" not in screen)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_what_waits_stays_queued_when_what_comes_in_its_place_is_refused(
    serve: Serve, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = MainTerminal.record

    def refuses(self: MainTerminal, record: Record) -> None:
        if isinstance(record, StateRecord) and "do that now" in str(record.value):
            raise UserError(phrase("The disk is full."))
        keep(self, record)

    held = [Delta("begun"), lambda stop: bool(stop.wait(120)) and None, *text_reply("done")]
    with serve(held) as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="go")
            page.wait_for("TextDelta")
            page.call("send", session=session, cmd="c2", text="do that")
            page.call("stop", session=session, cmd="c3")
            page.wait_for("state", running=False)
            join(terminal, served)
            terminal.wait_for_text("› do that")
            monkeypatch.setattr(MainTerminal, "record", refuses)
            terminal.press(" now", "Enter")
            terminal.wait_for_text("The disk is full.")
            assert page.attach(session)["state"]["queue"] == [{"id": "c2", "text": "do that"}]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_what_waits_stands_in_the_line_again_when_nothing_was_sent(
    serve: Serve, terminal: Terminal
) -> None:
    held = [Delta("begun"), lambda stop: bool(stop.wait(120)) and None, *text_reply("done")]
    with serve(held) as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="go")
            page.wait_for("TextDelta")
            page.call("send", session=session, cmd="c2", text="do that")
            page.call("stop", session=session, cmd="c3")
            page.wait_for("state", running=False)
            join(terminal, served)
            terminal.wait_for_text("› do that")
            terminal.press("C-u", "/resume", "Enter")
            told = "No other sessions in this project."
            terminal.wait_for_text(told)
            terminal.wait_for(lambda screen: "› do that" in screen.partition(told)[2])


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_new_session_of_the_attached_terminal_has_the_settings_of_the_last(
    serve: Serve, terminal: Terminal
) -> None:
    with serve(text_reply("one"), text_reply("fine")) as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="first")
            page.wait_for("TurnFinished")
            for command in ("/think", "/approve read-only", "/model other"):
                page.call("send", session=session, cmd=command, text=command)
                page.wait_for("CommandAnswered", command=command.split()[0])
            page.wait_for("state", running=False)
            join(terminal, served)
            terminal.wait_for_text("other · thinks once · project · read-only")
            terminal.press("/clear", "Enter")
            terminal.wait_for_text("New session started.")
            assert "first" not in terminal.see_prompt_after("New session started.")
            terminal.wait_for_text("other · thinks once · project · read-only")
            terminal.press("hello", "Enter")
            terminal.see_prompt_after("fine")
            (new,) = {seat.session for seat in server.registry.open_runners} - {session}
            made = server.registry.open(new).terminal
            assert (made.model.model, made.mode, made.approval.mode) == (
                "other",
                "think",
                "read-only",
            )
            kept = made.history.state
            assert (kept["mode"], kept["approval"]) == ("think", "read-only")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_attached_terminal_chooses_the_approval_mode_from_a_list(
    serve: Serve, terminal: Terminal
) -> None:
    with serve(text_reply("one")) as served:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            served.new_session()
            join(terminal, served)
            terminal.wait_for_text("guarded · context")
            terminal.press("/approve", "Enter")
            terminal.wait_for_text("Esc closes")
            terminal.press("Escape")
            terminal.wait_for(lambda now: "Esc closes" not in now and "guarded · context" in now)
            terminal.press("/approve", "Enter")
            terminal.wait_for_text("Esc closes")
            terminal.press("read-o", "Enter")
            terminal.wait_for_text("Approval mode: read-only.")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_attached_terminal_chooses_among_sessions_by_number(
    serve: Serve, terminal: Terminal
) -> None:
    with serve(text_reply("one"), text_reply("two")) as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            for number, text in enumerate(("the first talk", "the second talk")):
                session = served.new_session()
                page.attach(session)
                page.call("send", session=session, cmd=f"c{number}", text=text)
                page.wait_for("TurnFinished")
                page.wait_for("state", running=False)
            join(terminal, served)
            terminal.see_prompt_after("two")
            terminal.press("/resume", "Enter")
            terminal.see_prompt_after("the first talk")
            terminal.press("/resume 1", "Enter")
            terminal.wait_for_text("(1 turn).")


def free_port(
    tmp: Path, mode: AsyncMode, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, Sequence[str]]:
    """Return a port, and the options, of a server that is started twice with its data in *tmp*."""
    monkeypatch.setenv("ONEFOLD_DATA_DIR", str(tmp / "data"))
    monkeypatch.setenv("ONEFOLD_BOOTSTRAP", "0")
    port = next(filter(is_free, random.sample(NOT_HANDED_OUT, len(NOT_HANDED_OUT))))
    return port, ("--port", str(port), "--async-mode", mode)


NOT_HANDED_OUT = range(10_000, 30_000)
"""Ports that the system gives to nobody who does not name them, while the server is gone."""


def is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_attached_terminal_outlives_a_restart_of_the_server(
    tmp_path: Path, terminal: Terminal, mode: AsyncMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, options = free_port(tmp_path, mode, monkeypatch)
    with started(tmp_path, *options):
        attach_and_work(terminal, tmp_path / "data", port)
    terminal.wait_for_text("Connection lost. Reconnecting.")
    terminal.press("make b.txt with two", "Enter")
    terminal.wait_for_text("No Onefold server on port")
    with started(tmp_path, *options):
        terminal.wait_for_text("Reconnected.")
        terminal.press("Enter")  # what could not be sent stands there again
        terminal.see_prompt_after("b.txt is made")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_enter_sends_the_line_while_the_prompt_gives_way_to_what_is_told(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, options = free_port(tmp_path, "threading", monkeypatch)
    door = tmp_path / "door"
    held = (
        "import os, time; from modules.cli.attach.client import AttachClient; "
        "tell = AttachClient._say_connection; "
        "held = lambda twin: (tell(twin), [time.sleep(0.02) for _ in iter("
        f"lambda: twin._prompt.draft > '' and not os.path.exists('{door}'), False)]); "
        "AttachClient._say_connection = held"
    )
    with started(tmp_path, *options):
        attach_and_work(terminal, tmp_path / "data", port, held)
        terminal.press("make b.txt with two")
        terminal.wait_for_text("› make b.txt with two")
    terminal.wait_for_text("Connection lost. Reconnecting.")
    with started(tmp_path, *options):
        terminal.press("Enter")
        door.touch()
        terminal.see_prompt_after("b.txt is made")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_what_a_new_server_did_before_it_was_listened_to_is_shown(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, options = free_port(tmp_path, "threading", monkeypatch)
    door = tmp_path / "door"
    held = (
        "import os, time; from modules.cli.attach.listener import EventListener; "
        "follow = EventListener._read_events; "
        "EventListener._read_events = lambda one: ([time.sleep(0.02) for _ in iter("
        f"lambda: one._boot > '' and not os.path.exists('{door}'), False)], follow(one))"
    )
    with started(tmp_path, *options):
        attach_and_work(terminal, tmp_path / "data", port, held)
    terminal.wait_for_text("Connection lost. Reconnecting.")
    with started(tmp_path, *options):
        terminal.press("make b.txt with two", "Enter")
        assert wait_until(lambda: (tmp_path / "project" / "b.txt").exists(), TIMEOUT_SECONDS)
        door.touch()
        screen = terminal.see_prompt_after("b.txt is made")
    assert screen.count("› make b.txt with two") == 1


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_session_without_a_word_goes_on_as_another_after_a_restart(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, options = free_port(tmp_path, "threading", monkeypatch)
    with started(tmp_path, *options):
        attach_to(terminal, tmp_path / "data", port)
        terminal.wait_for_text("›")
        terminal.press("make a.txt with one")
        terminal.wait_for_text("› make a.txt with one")
    terminal.wait_for_text("Connection lost. Reconnecting.")
    with started(tmp_path, *options):
        terminal.wait_for_text("Reconnected.")
        terminal.press("Enter")
        terminal.see_prompt_after("a.txt is made")


def test_a_turn_that_is_over_at_once_is_shown_all_the_same(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(text_reply("seen")) as served, served.page() as page:
        server = served.server
        session = served.new_session()
        page.attach(session)
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            twin = AttachClient(ServerLink(file, server.port), session, Translator.of("en"))

            def idle() -> Iterator[str]:
                """Type nothing until the twin has heard of a whole turn, then leave."""
                page.call("send", session=session, cmd="c1", text="go")
                assert wait_until(lambda: twin._session.state.get("turn") == 1, TIMEOUT_SECONDS)
                assert wait_until(lambda: not twin._session.state["running"], TIMEOUT_SECONDS)
                yield "\n"

            typed = idle()
            monkeypatch.setattr(sys, "stdin", Mock(isatty=bool, readline=lambda: next(typed, "")))
            assert twin.run() == 0
            twin.close()
    assert "seen" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_prompt_comes_back_when_the_server_was_killed_in_the_midst_of_a_turn(
    tmp_path: Path, terminal: Terminal, mode: AsyncMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, options = free_port(tmp_path, mode, monkeypatch)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "slow.py").write_text("import time; time.sleep(60)")
    with started(tmp_path, *options):
        attach_to(terminal, tmp_path / "data", port)
        terminal.wait_for_text("›")
        terminal.press("run slow.py", "Enter")
        terminal.wait_for_text("Run python3 slow.py")
    terminal.wait_for_text("Connection lost. Reconnecting.")
    with started(tmp_path, *options):
        terminal.see_prompt_after("Reconnected.")
        terminal.press("make b.txt with two", "Enter")
        terminal.see_prompt_after("b.txt is made")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_question_comes_back_to_the_attached_terminal_after_a_restart(
    tmp_path: Path, terminal: Terminal, mode: AsyncMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, options = free_port(tmp_path, mode, monkeypatch)
    with started(tmp_path, *options, "--approve", "ask"):
        attach_to(terminal, tmp_path / "data", port)
        terminal.wait_for_text("›")
        terminal.press("make a.txt with one", "Enter")
        terminal.wait_for_text("y yes")
    with started(tmp_path, *options):
        terminal.wait_for(lambda screen: screen.count("? Create a.txt") == 2 and "y yes" in screen)
        terminal.press("y")
        terminal.see_prompt_after("a.txt is made")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_question_is_edited_in_the_attached_terminal(serve: Serve, terminal: Terminal) -> None:
    replies = [call_reply("write", path="model"), text_reply("done")]
    with serve(*replies, approval_mode="ask") as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="go")
            page.wait_for("ApprovalAsked")
            join(terminal, served)
            terminal.wait_for_text("e edit")
            terminal.press("e")
            terminal.wait_for_text('"path": "model"')
            terminal.press("Up", "End", *["BSpace"] * len('"model"'), "3", "Enter")
            terminal.wait_for_text("must be of type string")
            terminal.wait_for_text("e edit")
            terminal.press("e")
            terminal.wait_for_text('"path": "model"')
            terminal.press("Up", "End", "Left", *["BSpace"] * len("model"), "person", "Enter")
            terminal.wait_for_text("done")
            started = page.wait_for("ToolStarted", is_revised=True)
            assert started["arguments"] == {"path": "person"}
            page.wait_for("TurnFinished")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_window_that_is_closed_ends_the_attached_terminal_and_not_the_turn(
    serve: Serve, terminal: Terminal, tmp_path: Path
) -> None:
    gate = threading.Event()
    pid = tmp_path / "pid"
    with serve(
        [Delta("begun"), lambda _: bool(gate.wait(300)) and None, *text_reply("done")]
    ) as served:
        server = served.server
        file = server_file(served.data, server.port)
        with (
            published_server_file(file, server.url, server.authenticator.token, served.project),
            served.page() as page,
        ):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c1", text="go")
            page.wait_for("TextDelta")
            note = (
                f"import os; from pathlib import Path; Path('{pid}').write_text(str(os.getpid()))"
            )
            attach_to(terminal, served.data, server.port, note)
            terminal.wait_for_text("begun")
            process = Path("/proc") / pid.read_text()
            assert process.exists()
            terminal.tmux("kill-session")
            assert wait_until(lambda: not process.exists(), TIMEOUT_SECONDS)
            gate.set()
            assert page.wait_for("TurnFinished")["why"] == "done"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_attached_terminal_ends_with_its_session(
    served: RunningServer, terminal: Terminal
) -> None:
    server = served.server
    file = server_file(served.data, server.port)
    with published_server_file(file, server.url, server.authenticator.token, served.project):
        session = served.new_session()
        join(terminal, served)
        terminal.wait_for_text("›")
        (own,) = {seat.session for seat in server.registry.open_runners} - {session}
        assert served.ask("DELETE", f"/api/sessions/{own}").status == 204
        terminal.wait_for_text("This session was deleted.")


def test_a_line_that_is_just_done_need_not_give_way() -> None:
    """What happens is told by another thread, at any moment."""
    link = Mock(request=lambda *_: {"commands": [], "project": ""})
    line = AttachedPrompt(link, Translator.of("en"), TypedAhead(), lambda: STATE)
    loop = asyncio.new_event_loop()
    loop.close()
    session = Mock(app=Mock(loop=loop, is_running=True))
    session.app.invalidate = lambda: loop.call_soon_threadsafe(print)
    line._session = session
    line.interrupt()
    line.refresh()


STATE: Packet = {
    "context": {"used": 0, "limit": 1},
    "model": "m",
    "practice": False,
    "mode": "fast",
    "approval": "ask",
    "usage": {"cost_usd": 0.0},
}


def test_who_comes_back_hears_that_the_session_was_deleted_meanwhile(served: RunningServer) -> None:
    server = served.server
    file = server_file(served.data, server.port)
    with published_server_file(file, server.url, server.authenticator.token, served.project):
        link = ServerLink(file, server.port)
        listener = EventListener(
            link, "gone", on_packet=lambda *_: None, on_connection_change=lambda _: None
        )
        assert listener.packets.get(timeout=TIMEOUT_SECONDS) == ("deleted", {})
        listener.close()


def test_who_leaves_listens_no_more(served: RunningServer, type_in: Callable[[str], None]) -> None:
    server, before = served.server, set(threading.enumerate())
    file = server_file(served.data, server.port)
    with published_server_file(file, server.url, server.authenticator.token, served.project):
        type_in("/new\n/status\n")
        assert attach(served.data, server.port, Translator.of("en")) == 0
    after = set(threading.enumerate()) - before
    for thread in after:
        if thread.name == "events":
            thread.join(TIMEOUT_SECONDS)
            assert not thread.is_alive()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_attached_terminal_says_what_holds(serve: Serve, terminal: Terminal) -> None:
    with serve(text_reply("fine"), text_reply("more")) as served, served.page() as page:
        server = served.server
        file = server_file(served.data, server.port)
        with published_server_file(file, server.url, server.authenticator.token, served.project):
            session = served.new_session()
            page.attach(session)
            page.call("send", session=session, cmd="c0", text="hello")
            page.wait_for("state", running=False)
            join(terminal, served)
            terminal.wait_for_text("fast · project · guarded · context")
            page.call("send", session=session, cmd="c1", text="/think")
            terminal.wait_for_text("thinks once · project · guarded")
            terminal.press("C-c")
            terminal.wait_for_text("Press Ctrl-C again to quit")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_the_attached_terminal_tells_of_a_receipt_that_stands_no_more(
    tmp_path: Path, terminal: Terminal, mode: AsyncMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, options = free_port(tmp_path, mode, monkeypatch)
    tests = tmp_path / "project/tests"
    tests.mkdir(parents=True)
    (tests / "test_a.py").write_text(MADE_TEST)
    with started(tmp_path, *options):
        attach_and_work(terminal, tmp_path / "data", port)
        terminal.wait_for_text("unittest discover -s tests passed")
        (tmp_path / "project/a.txt").write_text("two")
        terminal.wait_for_text("a.txt changed since")
