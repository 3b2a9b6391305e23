from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.store.index import Snapshot
from modules.checkpoints.undo.undo_commands import UndoCommands
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.jobs.test_jobs import background, command, jobs_of, running, say, told
from tests.modules.sandbox.sandbox_home import ROOT, is_alive, wait_until
from tests.scripted_model import call_reply

WRITER = 'while read name; do echo by the job > "$name"; echo "wrote $name"; done'
"""A job that writes to the file whose name is typed."""


def write(made: AssembledTerminal, name: str) -> None:
    """Have the job of `WRITER` write to the file *name*, with no call about it."""
    jobs_of(made)._jobs[1].type(name, made.terminal.stop)
    assert wait_until(lambda: (made.root / name).is_file() and f"wrote {name}" in tail(made))


def tail(made: AssembledTerminal) -> str:
    return str(jobs_of(made).rows()[0]["tail"])


def names(made: AssembledTerminal) -> list[str]:
    return sorted(path.name for path in made.root.iterdir() if path.name != ".git")


def undo_commands(made: AssembledTerminal) -> UndoCommands:
    undo = made.terminal.features.find(UndoCommands)
    assert undo is not None
    return undo


def rows(made: AssembledTerminal, line: str) -> list[str]:
    """Return the rows of the card that answers the command *line*."""
    answer = made.terminal._run_command(line)
    assert isinstance(answer.card, TableCard), answer
    return [" | ".join(map(str, row)) for row in answer.card.rows]


def test_a_job_between_two_calls_is_undone_with_its_turn(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        made.model.replies += [
            background(WRITER),
            [
                lambda _: write(made, "between"),
                *call_reply("create_file", path="mine", content="x"),
            ],
        ]
        say(made)
        assert any("job 1: between" in row for row in rows(made, "/undo list"))
        undone = rows(made, "/undo")
        assert [row.split(" | ")[:2] for row in undone[:-1]] == [
            ["removed", "between"],
            ["removed", "mine"],
        ]
        assert undone[-1] == "still running | job 1 | it may write again; /jobs stop ends it"
        assert not (made.root / "between").exists()
        assert running(made) == "job 1"
        rows(made, "/redo")
        assert (made.root / "between").read_text() == "by the job\n"


def test_what_a_job_does_as_a_call_begins_is_undone_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that made a folder then, and renamed it under the call, left it behind."""
    with assembled_terminal(tmp_path) as made:
        say(made, background(WRITER))
        begin_call = Checkpoints.begin_call

        def begin_late(self: Checkpoints, *given: Any) -> Snapshot:
            write(made, "gap")
            return begin_call(self, *given)

        monkeypatch.setattr(Checkpoints, "begin_call", begin_late)
        say(made, call_reply("run_command", command="mv gap moved"))
        assert rows(made, "/undo list")
        rows(made, "/undo")
        assert names(made) == ["gap"]
        (row,) = [row for row in rows(made, "/undo list") if "job 1: gap" in row]
        rows(made, f"/undo call {row.split(' | ')[0]}")
        assert names(made) == []


def test_what_came_between_turns_stays_when_a_turn_is_undone_but_can_be_undone(
    tmp_path: Path,
) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background(WRITER), call_reply("create_file", path="mine", content="x"))
        write(made, "later")
        (made.root / "by the person").write_text("precious")
        rows(made, "/undo")
        assert not (made.root / "mine").exists()
        assert (made.root / "later").read_text() == "by the job\n"
        assert (made.root / "by the person").read_text() == "precious"
        (row,) = [row for row in rows(made, "/undo list") if "job 1: " in row]
        number = row.split(" | ")[0]
        write(made, "later still")
        rows(made, f"/undo call {number}")
        assert not (made.root / "later").exists()
        assert (made.root / "later still").exists()
        rows(made, "/redo")
        assert (made.root / "later").read_text() == "by the job\n"


def test_an_undo_is_no_doing_of_a_job(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background(WRITER), call_reply("create_file", path="mine", content="x"))
        rows(made, "/undo")
        rows(made, "/redo")
        say(made, call_reply("jobs", operation="list"))
        assert [row for row in rows(made, "/undo list") if "job 1" in row] == []


def test_a_rewind_takes_back_what_a_job_did_and_brings_it_again(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background(WRITER))
        write(made, "later")
        rows(made, "/rewind 1 files")
        assert not (made.root / "later").exists()
        rows(made, "/redo")
        assert (made.root / "later").read_text() == "by the job\n"


def test_what_a_job_did_last_is_recorded_when_the_session_is_left(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background(WRITER))
        write(made, "last")
        session = made.terminal.session
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume(session)
        assert "job 1: last" in str(rows(made, "/undo list"))


def test_git_and_mount_points_stay_protected_while_a_job_lives(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    with assembled_terminal(tmp_path) as made:
        say(
            made,
            background("while read line; do mkdir -p .git/hooks && echo planted; echo tried; done"),
            call_reply("run_command", command="true"),
            call_reply("run_command", command="echo x > made", id="c2"),
        )
        jobs_of(made)._jobs[1].type("go", made.terminal.stop)
        assert wait_until(lambda: "tried" in tail(made))
        assert "planted" not in tail(made)
        assert not (root / ".git/hooks").exists()
        command(made, "/jobs stop")
    assert not (root / ".git").exists()


KILLED = """
import sys, time
from pathlib import Path
from tests.assembly import assembled_terminal
from tests.modules.jobs.test_jobs import background, jobs_of, say
from tests.modules.jobs.test_terminals import tty
with assembled_terminal(Path(sys.argv[1])) as made:
    say(
        made,
        background("setsid sleep 4321 & sleep 4321"),
        tty("trap '' HUP; setsid sleep 4321 & echo ready; sleep 4321"),
    )
    for job in jobs_of(made)._jobs.values():
        print(job._execution.inner_pid, flush=True)
    time.sleep(600)
"""


def test_a_kill_of_onefold_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        inner = [int(process.stdout.readline()) for _ in range(2)]
        namespaces = [Path(f"/proc/{pid}/ns/pid").readlink() for pid in inner]
        os.kill(process.pid, signal.SIGKILL)
    assert wait_until(lambda: not any(map(is_alive, inner)))
    assert len(set(namespaces)) == 2
    assert wait_until(lambda: not (tmp_path / "project" / ".git").exists())
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume()
        say(made, line="and now?")
        read = str(made.model.requests[-1])
        assert "job 1 ended with the Onefold that ran it" in read
        assert "job 2 ended with the Onefold that ran it" in read


PLANTS = """git init -q zlib; cd zlib; git config core.fsmonitor false
echo > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout"""


@pytest.mark.parametrize("is_job", [True, False])
def test_no_repository_that_a_program_makes_keeps_what_git_would_run(
    tmp_path: Path, *, is_job: bool
) -> None:
    """Of a job it is taken out at its end, of a call however many others it has made beside."""
    with assembled_terminal(tmp_path, approval_mode="all") as made:
        if is_job:
            say(made, background(PLANTS), call_reply("jobs", operation="wait"))
        else:
            code = f"mkdir -p a{{1..210}}/.git; {PLANTS}"
            say(made, call_reply("run_command", command=code))
            again = "cd zlib && git config core.fsmonitor true"
            say(made, call_reply("run_command", command=again))
        git = made.root / "zlib/.git"
        assert "fsmonitor" not in (git / "config").read_text()
        assert not (git / "hooks/post-checkout").exists()
        assert "taken out" in told(made)
