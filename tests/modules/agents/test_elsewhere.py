"""The board answers and stops what works in another process: two real ones, on one project."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.events import Reply, TurnFinished
from modules.agents import holder_link
from modules.agents.socket_folder import address, key_name, opened, socket_name
from tests.assembly import assembled_terminal
from tests.modules.agents.two_processes import Both, both
from tests.scripted_model import run_turn, text_reply
from tests.simulator import Call, Say, Stall
from tests.simulator.server import wait_for
from utils.i18n import UserError

ASKS = Call("ask_person", question="Which colour?", choices=["red", "blue"])
DELETES = Call("run_command", command="echo hi", network=True)


def test_a_question_is_answered_from_the_board_of_another_process(tmp_path: Path) -> None:
    with both(tmp_path, [ASKS, Say("Blue it is.")]) as run:
        assert not run.sockets.exists()  # who runs no turn has none
        run.say("Paint it.")
        run.dialogue.wait_for_text("1–2 choose")
        session, shown = run.asked()
        assert shown.startswith("Which colour?\n1  red\n2  blue\n/agents answer")
        assert run.told(f"answer {session} 2") == f"Answered {session}."
        screen = run.dialogue.wait_for_text("Blue it is.")
        assert "Answered on another screen." in screen
        assert "1–2 choose" not in screen
        assert run.at.server.requests[-1].messages[-1]["content"] == "The person answers: blue"
        wait_for(lambda: not [*run.sockets.iterdir()])  # and none once it is over


def test_a_call_is_allowed_once_or_always_and_refused_with_a_reason(tmp_path: Path) -> None:
    script = [
        DELETES,
        DELETES,
        DELETES,
        Call("run_command", command="ls", network=True),
        Say("Ok."),
    ]
    with both(tmp_path, script) as run:
        run.say("Say hi.")
        session, shown = run.asked()
        assert "run_command\necho hi\n" in shown
        assert run.told(f"answer {session} perhaps", ok=False).startswith("Answer yes, always, no")
        run.told(f"answer {session} no not like this")
        wait_for(lambda: len(run.at.server.requests) == 2)
        assert "not like this" in run.at.server.requests[-1].messages[-1]["content"]
        run.asked()
        run.told(f"answer {session} yes")
        run.asked()  # a yes was for that call alone
        run.told(f"answer {session} always")  # and what is like it is asked about no more
        run.dialogue.wait_for_text("Ok.")


def test_an_answer_never_hits_another_question(tmp_path: Path) -> None:
    """A helper's questions all come as those of the call that it is."""
    second = Call("ask_person", question="Delete everything?", choices=["yes", "no"])
    script = [Call("delegate", task="find out"), ASKS, second, Say("So."), Say("Done so.")]
    with both(tmp_path, script) as run:
        run.say("Do it.")
        helper, shown = run.asked("helper")
        assert "The helper for “find out” asks: Which colour?" in shown
        session = run.wait_for_state("asking").id
        assert run.told(f"answer {session}").startswith("The helper for “find out” asks: Which")
        first = run.agents.question(session)
        run.dialogue.wait_for_text("1–2 choose")
        run.dialogue.press("1")  # somebody is quicker, at its own screen
        wait_for(lambda: key_of(run, session) not in ("", first.key))
        over = "That question is over, or was answered on another screen."
        assert run.told(f"answer {helper} 1", ok=False) == over
        assert run.told(f"answer {helper} 1", ok=False).startswith("See first what is asked")
        assert run.agents.question(session).event.call_id == first.event.call_id
        assert "Delete everything?" in run.told(f"answer {helper}")
        run.told(f"answer {helper} 2")
        run.dialogue.wait_for_text("Done so.")
        answers = [m["content"] for m in run.at.server.requests[3].messages if m["role"] == "tool"]
        assert answers == ["The person answers: red", "The person answers: no"]


def test_of_two_answers_the_first_counts_and_the_second_is_told(tmp_path: Path) -> None:
    with both(tmp_path, [ASKS, Stall()]) as run:
        run.say("Paint it.")
        session, _ = run.asked()
        asked = run.agents.question(session)
        run.agents.answer(session, asked.key, Reply(yes=True, text="blue"))
        assert run.told(f"answer {session} 1", ok=False).startswith("That question is over")
        wait_for(lambda: len(run.at.server.requests) == 2 and run.at.server.requests[1].body)
        assert run.at.server.requests[-1].messages[-1]["content"] == "The person answers: blue"
        nothing = f"{session} asks nothing that can be answered from here."
        assert run.told(f"answer {session}", ok=False) == nothing


@pytest.mark.parametrize(
    ("answer", "told"), [("no from afar", "from afar"), ("yes", "exit code 0")]
)
def test_who_types_at_the_question_is_led_away_from_it(
    tmp_path: Path, answer: str, told: str
) -> None:
    """That is no answer of theirs, and no second one counts: the one from elsewhere does."""
    with both(tmp_path, [DELETES, Say("Not so, then.")]) as run:
        run.say("Say hi.")
        session, _ = run.asked()
        run.dialogue.wait_for_text("n no")
        run.dialogue.press("n")
        run.dialogue.wait_for_text("Why not?")
        run.dialogue.press("-l", "because I")
        run.dialogue.wait_for_text("because I")
        run.told(f"answer {session} {answer}")
        run.dialogue.wait_for_text("Answered on another screen.")
        run.dialogue.see_prompt_after("Not so, then.")
        assert told in run.at.server.requests[-1].messages[-1]["content"]


def test_no_reply_is_more_than_the_own_screen_would_take(tmp_path: Path) -> None:
    with both(tmp_path, [DELETES, Say("Ok.")]) as run:
        run.say("Say hi.")
        session, _ = run.asked()
        asked = run.agents.question(session)
        for reply in (
            Reply(yes=True, text="yes"),
            Reply(yes=False, always=True, pattern=asked.event.pattern),
            Reply(yes=True, always=True, pattern="run_command ls *"),
            Reply(yes=True, lasts=True, pattern="run_command *"),
            Reply(yes=True, arguments={"command": 7}),
        ):
            with pytest.raises(UserError):
                run.agents.answer(session, asked.key, reply)
        assert run.agents.question(session) == asked
        run.agents.answer(session, asked.key, Reply(yes=True, arguments={"command": "echo ho"}))
        run.dialogue.wait_for_text("Ok.")
        assert "ho" in run.at.server.requests[-1].messages[-1]["content"]


def test_what_works_in_another_process_is_stopped(tmp_path: Path) -> None:
    script = [Stall(), Call("delegate", task="look"), Stall(), Say("Without it.")]
    with both(tmp_path, script) as run:
        run.say("Wait.")
        session = run.wait_for_state("working").id
        wait_for(lambda: len(run.at.server.requests) == 1)
        assert run.told(f"stop {session}") == f"Stopping {session}."
        run.dialogue.see_prompt_after("Stopped.")
        run.wait_for_state("idle")
        assert run.told(f"stop {session}", ok=False) == f"{session} is idle: nothing to stop."
        run.say("Have a look.")
        helper = run.wait_for_state("working", "helper").id
        wait_for(lambda: len(run.at.server.requests) == 3)
        run.told(f"stop {helper}")
        run.dialogue.wait_for_text("Without it.")


def test_a_process_that_was_killed_leaves_nothing_that_hinders(tmp_path: Path) -> None:
    with both(tmp_path, [ASKS]) as run:
        run.say("Paint it.")
        session, _ = run.asked()
        os.kill(run.pid, signal.SIGKILL)
        wait_for(lambda: not run.agents.work())
        gone = f"Nothing with the ID {session} is at work."
        assert run.told(f"answer {session}", ok=False) == gone
        assert run.told(f"stop {session}", ok=False) == gone
        assert {one.name for one in run.sockets.iterdir()} == {
            socket_name(session), key_name(session)
        }  # fmt: skip
    with both(tmp_path, [Say("Blue it is.")], "--resume", session) as run:
        run.asked()
        run.told(f"answer {session} 2")
        run.dialogue.wait_for_text("Blue it is.")
        wait_for(lambda: not [*run.sockets.iterdir()])


def test_a_process_that_is_suspended_takes_no_answer_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with both(tmp_path, [ASKS, Say("So be it.")]) as run:
        run.say("Paint it.")
        session, _ = run.asked()
        os.kill(run.pid, signal.SIGSTOP)
        threads = Path(f"/proc/{run.pid}/task")
        wait_for(lambda: all(") T " in (one / "stat").read_text() for one in threads.iterdir()))
        monkeypatch.setattr(holder_link, "_PATIENCE_SECONDS", 0.2)
        said = run.told(f"answer {session} 1", ok=False)
        assert said == f"Process {run.pid} does not answer; it may be suspended."
        monkeypatch.undo()
        os.kill(run.pid, signal.SIGCONT)
        run.asked()  # it is asked still
        run.told(f"answer {session} 2")
        run.dialogue.wait_for_text("So be it.")
        assert run.at.server.requests[-1].messages[-1]["content"] == "The person answers: blue"


def key_of(run: Both, session: str) -> str:
    try:
        return run.agents.question(session).key
    except UserError:  # between two questions
        return ""


LISTENER = """
import os, socket, sys
os.chdir(sys.argv[1])
os.unlink(sys.argv[2])
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(sys.argv[2])
    listener.listen()
    print("listens", flush=True)
    connection, _ = listener.accept()
    print(connection.recv(1000), flush=True)
"""


def test_what_stands_in_the_place_of_the_socket_is_told_nothing(tmp_path: Path) -> None:
    with both(tmp_path, [ASKS, Say("Red.")]) as run:
        run.say("Paint it.")
        session, _ = run.asked()
        name = socket_name(session)
        away = f"{session} cannot be reached from here; do it where it works (process {run.pid})."
        with subprocess.Popen(
            [sys.executable, "-c", LISTENER, run.sockets, name], stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdout
            assert other.stdout.readline() == "listens\n"
            assert run.told(f"answer {session} 1", ok=False) == away
            assert other.stdout.readline() == "b''\n"  # not even the key
        (run.sockets / name).unlink()
        (run.sockets / name).write_text("x")
        assert run.told(f"answer {session}", ok=False) == away
        (run.sockets / name).unlink()
        assert run.told(f"stop {session}", ok=False) == away
        run.sockets.chmod(0o777)
        assert run.told(f"answer {session}", ok=False) == away
        run.dialogue.wait_for_text("1–2 choose")
        run.dialogue.press("1")
        run.dialogue.wait_for_text("Red.")


@pytest.mark.parametrize("what", ["file", "link", "open to all"])
def test_where_there_can_be_no_socket_work_goes_on_without(tmp_path: Path, what: str) -> None:
    with both(tmp_path, [ASKS, Say("Red.")]) as run:
        if what == "file":
            run.sockets.write_text("")
        elif what == "link":
            (tmp_path / "elsewhere").mkdir(mode=0o700)
            run.sockets.symlink_to(tmp_path / "elsewhere")
        else:
            run.sockets.mkdir()
            run.sockets.chmod(0o777)
        run.say("Paint it.")
        session = run.wait_for_state("asking").id
        run.dialogue.wait_for_text("1–2 choose")
        away = f"{session} cannot be reached from here; do it where it works (process {run.pid})."
        assert run.told(f"answer {session}", ok=False) == away
        assert run.told(f"stop {session}", ok=False) == away
        run.dialogue.wait_for_text("1–2 choose")
        run.dialogue.press("1")
        run.dialogue.wait_for_text("Red.")


def test_a_turn_goes_on_where_no_thread_can_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("socket "):
            raise RuntimeError("can't start new thread")
        start(thread)

    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with assembled_terminal(tmp_path, text_reply("So be it.")) as env:
        end = run_turn(env.terminal, "go on")[-1]
        assert isinstance(end, TurnFinished)
        assert end.why == "done"


def test_a_long_path_of_the_data_is_no_hindrance(tmp_path: Path) -> None:
    base = tmp_path / ("long-" * 20) / ("path-" * 20)
    base.mkdir(parents=True)
    with both(base, [ASKS, Say("Blue it is.")]) as run:
        run.say("Paint it.")
        session, _ = run.asked()
        (name,) = (one for one in run.sockets.iterdir() if one.suffix == ".sock")
        assert len(os.fsencode(name)) > 108
        assert stat.S_IMODE(name.stat().st_mode) == 0o600
        assert stat.S_IMODE((run.sockets / key_name(session)).stat().st_mode) == 0o600
        assert stat.S_IMODE(run.sockets.stat().st_mode) == 0o700
        run.told(f"answer {session} 2")
        run.dialogue.wait_for_text("Blue it is.")


def test_who_does_not_know_the_key_is_told_nothing(tmp_path: Path) -> None:
    with both(tmp_path, [ASKS, Say("Red.")]) as run:
        run.say("Paint it.")
        session, _ = run.asked()
        key = run.agents.question(session).key.encode()
        stop = b'{"do": "stop", "work": "' + session.encode() + b'"}\n'
        answer = (
            b'{"do": "answer", "question": "' + key + b'", "reply": {"yes": true, "text": "x"}}\n'
        )
        for said in (stop, b"\n" + stop, b"0" * 64 + b"\n" + answer, b"\xff\n" + answer, b""):
            with opened(run.sockets) as place, socket.socket(socket.AF_UNIX) as line:
                line.connect(address(run.sockets, place, socket_name(session)))
                line.sendall(said)
                line.shutdown(socket.SHUT_WR)
                assert line.recv(1000) == b""
        assert run.agents.question(session).key.encode() == key
        run.dialogue.wait_for_text("1–2 choose")
        run.dialogue.press("1")
        run.dialogue.wait_for_text("Red.")
