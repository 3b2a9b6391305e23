"""What is entered while a turn runs outlives everything until it is sent."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from core.conversation.messages import Record, StateRecord, User
from core.events import TurnStarted
from modules.cli.input.pending_lines import PendingLines
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from tests.assembly import assembled_terminal
from tests.modules.cli.terminal import CHECKOUT, PROMPT, PYTHON, Terminal
from tests.modules.cli.terminal import terminal as terminal  # the fixture
from tests.scripted_model import run_turn, text_reply
from tests.simulator import Call, Say, Simulator, Step


def test_what_was_entered_is_there_after_another_start(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as env:
        run_turn(env.terminal, "first")
        queued = PendingLines(env.terminal)
        queued.add("second")
        queued.add("third\nline")
        queued.add("")
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        queued = PendingLines(env.terminal)
        assert queued.texts == ["second", "third\nline"]
        assert queued.restored() == b"\x1b[200~second\nthird\nline\x1b[201~"
        queued.sent("second, changed")
        assert queued.texts == []
        assert queued.restored() == b""


def test_each_line_waits_until_it_is_sent_itself(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as env:
        run_turn(env.terminal, "first")
        queued = PendingLines(env.terminal)
        for line in ("second", "third", "second"):
            queued.add(line)
        queued.sent("first")
        queued.sent("second")
        assert queued.texts == ["third", "second"]


def test_a_line_with_a_secret_in_it_waits_no_longer_once_it_is_sent(tmp_path: Path) -> None:
    """On disk it has the secret's name; the person sends it as they typed it."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".env").write_text("DB_PASSWORD=correct-horse-battery\n")
    with assembled_terminal(tmp_path, text_reply("one")) as here:
        run_turn(here.terminal, "first")
        queued = PendingLines(here.terminal)
        queued.add("is it correct-horse-battery?")
        assert "correct-horse" not in str(here.terminal.history.state["queue"])
        queued.sent("is it correct-horse-battery?")
        assert here.terminal.history.state["queue"] == []


def test_what_has_begun_waits_no_longer_whenever_it_is_killed(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one"), text_reply("two")) as env:
        run_turn(env.terminal, "first")
        queued = PendingLines(env.terminal)
        queued.add("second")
        queued.add("third")
        turn = env.terminal.run_line("second", queued=queued.ids_of("second"))
        assert isinstance(next(turn), TurnStarted)
        turn.close()  # here we are killed
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        assert PendingLines(env.terminal).texts == ["third"]


def test_a_line_entered_as_another_is_sent_is_kept(tmp_path: Path) -> None:
    """The keyboard is heard in a thread beside the turn."""
    with assembled_terminal(tmp_path, text_reply("one")) as env:
        run_turn(env.terminal, "first")
        queued = PendingLines(env.terminal)
        queued.add("second")
        keep = env.terminal.record
        sending = threading.Thread(target=queued.sent, args=("second",))

        def in_between(record: Record) -> None:
            if not sending.ident:
                sending.start()
                sending.join(0.3)
            keep(record)

        env.terminal.record = in_between  # type: ignore[method-assign]
        queued.add("third")
        sending.join()
        assert queued.texts == ["third"]


def test_a_line_entered_as_the_first_turn_begins_is_kept_in_its_session(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as env:
        claim = env.store.claim
        queued = PendingLines(env.terminal)
        entering = threading.Thread(target=queued.add, args=("second",))

        def in_between(session: str) -> None:
            if not entering.ident:
                entering.start()
                entering.join(0.3)
            claim(session)

        env.store.claim = in_between  # type: ignore[method-assign]
        run_turn(env.terminal, "first")
        entering.join()
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        assert env.terminal.history.turns == [1]
        assert PendingLines(env.terminal).texts == ["second"]


def test_a_line_typed_during_a_turn_survives_kill_9(tmp_path: Path, terminal: Terminal) -> None:
    project, data = tmp_path / "project", tmp_path / "data"
    project.mkdir()
    script: list[Step] = [Call("run_command", command="sleep 300", timeout=300), Say("after all")]
    with Simulator(script) as server:
        settings = (
            f"ONEFOLD_DATA_DIR={data} DEEPSEEK_API_KEY=sk-test DEEPSEEK_BASE_URL={server.url}"
            " LANG=C.UTF-8 ONEFOLD_LANG=en"
        )
        program = f"{PYTHON} {CHECKOUT}/main.py --cli --approve all"
        shell = "cd {}; env {} {}; echo EXIT $?; cat"
        first = shell.format(project, settings, f"{program} & echo $! > {tmp_path}/pid; fg")
        terminal.tmux("new-session", "-d", "-x", "90", "-y", "30", f"set -m; {first}")
        terminal.wait_for_text(PROMPT)
        terminal.press("begin", "Enter")
        terminal.wait_for_text("sleep 300")
        terminal.press("do this next", "Enter")
        terminal.wait_for_text("› do this next")
        terminal.wait_for(lambda _: "do this next" in str(queue_of(data, project)))
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        terminal.wait_for_text("EXIT 137")
        again = shell.format(project, settings, f"{program} --resume")
        terminal.tmux("respawn-pane", "-k", again)
        terminal.wait_for_text("Not sent yet")
        terminal.wait_for(lambda screen: "› do this next" in screen.split("Not sent yet")[1])
        assert said(data, project) == ["begin"]
        terminal.press("Enter")
        terminal.wait_for_text("after all")
        assert said(data, project) == ["begin", "do this next"]
        assert queue_of(data, project) == []


def start(terminal: Terminal, base: Path, url: str, approve: str) -> tuple[Path, Path]:
    """Start the program in *terminal*; return its project and its data folder."""
    project, data = base / "project", base / "data"
    project.mkdir()
    settings = (
        f"ONEFOLD_DATA_DIR={data} DEEPSEEK_API_KEY=sk-test DEEPSEEK_BASE_URL={url}"
        " LANG=C.UTF-8 ONEFOLD_LANG=en"
    )
    program = f"{PYTHON} {CHECKOUT}/main.py --cli --approve {approve}"
    shell = f"cd {project}; env {settings} {program}; cat"
    terminal.tmux("new-session", "-d", "-x", "90", "-y", "30", shell)
    terminal.wait_for_text(PROMPT)
    return project, data


def test_a_stop_holds_the_line_that_waits(tmp_path: Path, terminal: Terminal) -> None:
    script: list[Step] = [Call("run_command", command="sleep 300", timeout=300), Say("after all")]
    with Simulator(script) as server:
        project, data = start(terminal, tmp_path, server.url, "all")
        terminal.press("begin", "Enter")
        terminal.wait_for_text("sleep 300")
        terminal.press("do this next", "Enter")
        terminal.wait_for(lambda _: "do this next" in str(queue_of(data, project)))
        terminal.press("C-c")
        terminal.wait_for_text("Not sent yet")
        terminal.wait_for(lambda screen: "› do this next" in screen.split("Not sent yet")[1])
        assert said(data, project) == ["begin"]
        terminal.press("Enter")
        terminal.wait_for_text("after all")
        assert queue_of(data, project) == []


def test_a_line_typed_at_a_question_is_kept_as_well(tmp_path: Path, terminal: Terminal) -> None:
    script: list[Step] = [Call("run_command", command="echo hi"), Say("one"), Say("two")]
    with Simulator(script) as server:
        project, data = start(terminal, tmp_path, server.url, "ask")
        terminal.press("begin", "Enter")
        terminal.wait_for_text("y yes")
        terminal.press("do this next", "Enter")
        terminal.wait_for(lambda _: "do this next" in str(queue_of(data, project)))
        terminal.wait_for_text("y yes")
        terminal.press("y")
        terminal.wait_for_text("two")
        assert said(data, project) == ["begin", "do this next"]
        assert queue_of(data, project) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_asked_to_end_at_a_question_ends_and_asks_it_again_later(
    tmp_path: Path, terminal: Terminal, number: signal.Signals
) -> None:
    project, data = tmp_path / "project", tmp_path / "data"
    project.mkdir()
    with Simulator([Call("run_command", command="echo hi > made"), Say("one")]) as server:
        settings = (
            f"ONEFOLD_DATA_DIR={data} DEEPSEEK_API_KEY=sk-test DEEPSEEK_BASE_URL={server.url}"
            " LANG=C.UTF-8 ONEFOLD_LANG=en"
        )
        program = f"{PYTHON} {CHECKOUT}/main.py --cli"
        told = f"sh -c 'echo $$ > {tmp_path}/pid; exec \"$@\"' x env {settings} {program}"
        shell = f"cd {project}; {told} {{}}; echo EXIT $?; cat"
        terminal.tmux("new-session", "-d", "-x", "90", "-y", "30", shell.format("--approve ask"))
        terminal.wait_for_text(PROMPT)
        terminal.press("begin", "Enter")
        terminal.wait_for_text("y yes")
        terminal.press("do this next", "Enter")
        terminal.wait_for(lambda _: "do this next" in str(queue_of(data, project)))
        os.kill(int((tmp_path / "pid").read_text()), number)
        terminal.wait_for_text(f"EXIT {128 + number}")
        assert not (project / "made").exists()
        terminal.tmux("respawn-pane", "-k", shell.format("--resume"))
        terminal.wait_for_text("y yes")
        terminal.press("y")
        terminal.wait_for_text("Not sent yet")
        assert (project / "made").read_text() == "hi\n"
        assert said(data, project) == ["begin"]


def records(data: Path, project: Path) -> list[Record]:
    store = Sessions(DataFolder(data, project).sessions)
    found = [record for _, record in store.load(store.find(""))]
    store.close()
    return found


def said(data: Path, project: Path) -> list[str]:
    return [record.text for record in records(data, project) if isinstance(record, User)]


def queue_of(data: Path, project: Path) -> object:
    kept = [
        record.value
        for record in records(data, project)
        if isinstance(record, StateRecord) and record.name == "queue"
    ]
    return kept[-1] if kept else []
