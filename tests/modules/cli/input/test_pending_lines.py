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
from modules.sessions import Sessions
from modules.storage.data_folder import DataFolder
from tests.assembly import house
from tests.modules.cli.terminal import CHECKOUT, PROMPT, PYTHON, Terminal
from tests.modules.cli.terminal import terminal as terminal  # the fixture
from tests.scripted import run, say
from tests.simulator import Call, Say, Simulator, Step


def test_what_was_entered_is_there_after_another_start(tmp_path: Path) -> None:
    with house(tmp_path, say("one")) as here:
        run(here.main, "first")
        queued = PendingLines(here.main)
        queued.add("second")
        queued.add("third\nline")
        queued.add("")
    with house(tmp_path) as here:
        here.main.resume()
        queued = PendingLines(here.main)
        assert queued.texts == ["second", "third\nline"]
        assert queued.restored() == b"\x1b[200~second\nthird\nline\x1b[201~"
        queued.sent("second, changed")
        assert queued.texts == []
        assert queued.restored() == b""


def test_each_line_waits_until_it_is_sent_itself(tmp_path: Path) -> None:
    with house(tmp_path, say("one")) as here:
        run(here.main, "first")
        queued = PendingLines(here.main)
        for line in ("second", "third", "second"):
            queued.add(line)
        queued.sent("first")
        queued.sent("second")
        assert queued.texts == ["third", "second"]


def test_a_line_with_a_secret_in_it_waits_no_longer_once_it_is_sent(tmp_path: Path) -> None:
    """On disk it has the secret's name; the person sends it as they typed it."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".env").write_text("DB_PASSWORD=correct-horse-battery\n")
    with house(tmp_path, say("one")) as here:
        run(here.main, "first")
        queued = PendingLines(here.main)
        queued.add("is it correct-horse-battery?")
        assert "correct-horse" not in str(here.main.history.state["queue"])
        queued.sent("is it correct-horse-battery?")
        assert here.main.history.state["queue"] == []


def test_what_has_begun_waits_no_longer_whenever_it_is_killed(tmp_path: Path) -> None:
    with house(tmp_path, say("one"), say("two")) as here:
        run(here.main, "first")
        queued = PendingLines(here.main)
        queued.add("second")
        queued.add("third")
        turn = here.main.ask("second", queued=queued.ids_of("second"))
        assert isinstance(next(turn), TurnStarted)
        turn.close()  # here we are killed
    with house(tmp_path) as here:
        here.main.resume()
        assert PendingLines(here.main).texts == ["third"]


def test_a_line_entered_as_another_is_sent_is_kept(tmp_path: Path) -> None:
    """The keyboard is heard in a thread beside the turn."""
    with house(tmp_path, say("one")) as here:
        run(here.main, "first")
        queued = PendingLines(here.main)
        queued.add("second")
        keep = here.main.record
        sending = threading.Thread(target=queued.sent, args=("second",))

        def in_between(record: Record) -> None:
            if not sending.ident:
                sending.start()
                sending.join(0.3)
            keep(record)

        here.main.record = in_between  # type: ignore[method-assign]
        queued.add("third")
        sending.join()
        assert queued.texts == ["third"]


def test_a_line_entered_as_the_first_turn_begins_is_kept_in_its_session(tmp_path: Path) -> None:
    with house(tmp_path, say("one")) as here:
        claim = here.store.claim
        queued = PendingLines(here.main)
        entering = threading.Thread(target=queued.add, args=("second",))

        def in_between(session: str) -> None:
            if not entering.ident:
                entering.start()
                entering.join(0.3)
            claim(session)

        here.store.claim = in_between  # type: ignore[method-assign]
        run(here.main, "first")
        entering.join()
    with house(tmp_path) as here:
        here.main.resume()
        assert here.main.history.turns == [1]
        assert PendingLines(here.main).texts == ["second"]


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
        terminal.see(PROMPT)
        terminal.press("begin", "Enter")
        terminal.see("sleep 300")
        terminal.press("do this next", "Enter")
        terminal.see("› do this next")
        terminal.wait(lambda _: "do this next" in str(queue_of(data, project)))
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        terminal.see("EXIT 137")
        again = shell.format(project, settings, f"{program} --resume")
        terminal.tmux("respawn-pane", "-k", again)
        terminal.see("never sent")
        terminal.wait(lambda screen: "› do this next" in screen.split("never sent")[1])
        assert said(data, project) == ["begin"]
        terminal.press("Enter")
        terminal.see("after all")
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
    terminal.see(PROMPT)
    return project, data


def test_a_stop_holds_the_line_that_waits(tmp_path: Path, terminal: Terminal) -> None:
    script: list[Step] = [Call("run_command", command="sleep 300", timeout=300), Say("after all")]
    with Simulator(script) as server:
        project, data = start(terminal, tmp_path, server.url, "all")
        terminal.press("begin", "Enter")
        terminal.see("sleep 300")
        terminal.press("do this next", "Enter")
        terminal.wait(lambda _: "do this next" in str(queue_of(data, project)))
        terminal.press("C-c")
        terminal.see("never sent")
        terminal.wait(lambda screen: "› do this next" in screen.split("never sent")[1])
        assert said(data, project) == ["begin"]
        terminal.press("Enter")
        terminal.see("after all")
        assert queue_of(data, project) == []


def test_a_line_typed_at_a_question_is_kept_as_well(tmp_path: Path, terminal: Terminal) -> None:
    script: list[Step] = [Call("run_command", command="echo hi"), Say("one"), Say("two")]
    with Simulator(script) as server:
        project, data = start(terminal, tmp_path, server.url, "ask")
        terminal.press("begin", "Enter")
        terminal.see("y yes")
        terminal.press("do this next", "Enter")
        terminal.wait(lambda _: "do this next" in str(queue_of(data, project)))
        terminal.see("y yes")
        terminal.press("y")
        terminal.see("two")
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
        terminal.see(PROMPT)
        terminal.press("begin", "Enter")
        terminal.see("y yes")
        terminal.press("do this next", "Enter")
        terminal.wait(lambda _: "do this next" in str(queue_of(data, project)))
        os.kill(int((tmp_path / "pid").read_text()), number)
        terminal.see(f"EXIT {128 + number}")
        assert not (project / "made").exists()
        terminal.tmux("respawn-pane", "-k", shell.format("--resume"))
        terminal.see("y yes")
        terminal.press("y")
        terminal.see("never sent")
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
