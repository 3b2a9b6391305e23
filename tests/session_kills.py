"""The real program, killed (SIGKILL) again and again while it compacts, asks and queues.

A `KilledSession` is a project, its data and the model's wire. What the person did is in its
`ActionLog`; after each kill `KilledSession.check` holds what is on disk, and what the next start
shows, against that.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.conversation.history import repaired
from core.conversation.messages import Assistant, Record, StateRecord, ToolResult, User
from core.events import CommandAnswered
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.checkpoints.folders import FolderState, folder_state
from tests.scripted_model import run_turn
from tests.simulator import Call, Pause, Say, Simulator, Step
from tests.simulator.server import ReceivedRequest

ROOT = Path(__file__).parents[1]
TIMEOUT_SECONDS = 120.0
Kind = Literal["compaction", "approval", "queue"]
LIMIT = 9_000
"""Tokens of the window where room is to be made: some four tasks of `PADDING`."""
PADDING = " and take your time" * 220
_TASK = re.compile(r"task (\d+)\b")


@dataclass
class ActionLog:
    """Log of the person's actions, by the numbers of the tasks, and of the acknowledgements.

    *sent* was tried, *acknowledged* is to outlive everything, *taken_back* is to stay away; *asked*
    was seen as a question and not answered, *approved* is all that may ever run.
    """

    sent: set[int] = field(default_factory=set)
    acknowledged: set[int] = field(default_factory=set)
    taking_back: set[int] = field(default_factory=set)
    taken_back: set[int] = field(default_factory=set)
    asked: set[int] = field(default_factory=set)
    approved: set[int] = field(default_factory=set)
    last: int = 0

    def next(self) -> int:
        self.last += 1
        return self.last


class ScriptedResponder:
    """Model of the killed program: a task is one command and one file; a summary comes in pieces.

    While *gate* is closed no reply begins.
    """

    def __init__(self, pause: float = 0.0) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.asked_tasks: list[int] = []
        self.summary_count = 0
        self._pause_seconds = pause

    def __call__(self, request: ReceivedRequest) -> Step:
        if "You sum up a conversation" in str(request.messages[0]["content"]):
            self.summary_count += 1
            return (
                Say("- what was"),
                Pause(0.05),
                Say(" done\n- what"),
                Pause(0.05),
                Say(" is to"),
            )
        number, is_done = _current_task(request.messages)
        self.asked_tasks.append(number)
        self.gate.wait(TIMEOUT_SECONDS)
        if is_done:
            return (Say(f"Did {number}, "), Pause(self._pause_seconds), Say("and that is all."))
        return (
            Say(f"I do {number}."),
            Pause(self._pause_seconds),
            Call("run_command", command=f"echo {number} >> log.txt; sleep 0.02"),
            Call("create_file", path=f"made/{number}.txt", content=content(number)),
        )


def _current_task(messages: Sequence[dict[str, Any]]) -> tuple[int, bool]:
    """Return the number of the task that is on, and whether its calls are answered."""
    user_indexes = [place for place, one in enumerate(messages) if one["role"] == "user"]
    numbers = numbers_in(str(messages[user_indexes[-1]]["content"]))
    return numbers[-1], any(one["role"] == "tool" for one in messages[user_indexes[-1] :])


def content(number: int) -> str:
    return f"line of {number}\n" * 50


def numbers_in(text: str) -> list[int]:
    return [int(number) for number in _TASK.findall(text)]


class KilledSession:
    """A project in *base* with one session, the wire and the ledger; *kind* is what is killed."""

    def __init__(self, base: Path, kind: Kind, wire: ScriptedResponder, url: str) -> None:
        self.base, self.kind, self.responder = base, kind, wire
        self.project.mkdir(parents=True)
        (self.project / "kept.txt").write_text("kept\n")
        (self.project / "kept.txt").chmod(0o640)
        self.before = folder_state(self.project)
        self.log = ActionLog()
        self.killed = 0
        self._record_count = 0
        self._answers: dict[str, str] = {}
        self.environment = {
            **os.environ,
            "ONEFOLD_DATA_DIR": str(base / "data"),
            "ONEFOLD_BOOTSTRAP": "0",
            "DEEPSEEK_API_KEY": "sk-test",
            "DEEPSEEK_BASE_URL": url,
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "TERM": "xterm-256color",
        }
        if kind == "compaction":
            self.environment["ONEFOLD_CONTEXT_LIMIT"] = str(LIMIT)

    @property
    def project(self) -> Path:
        return self.base / "project"

    def argv(self, change: int, *options: str) -> list[str]:
        """Return the command of the program that dies at its *change*; 0 lets it live."""
        approve = ["--approve", "ask" if self.kind == "approval" else "all"]
        words = [str(change), *options, "--project", str(self.project)]
        is_attached = "--attach" in options
        return [
            sys.executable,
            "-m",
            "tests.kill_at_change",
            *words,
            *([] if is_attached else approve),
        ]

    def start(self, change: int, *options: str, **more: Any) -> subprocess.Popen[bytes]:
        argv = self.argv(change, *options)
        return subprocess.Popen(argv, cwd=ROOT, env=self.environment, **more)

    def text(self, number: int) -> str:
        return f"task {number}{PADDING if self.kind == 'compaction' else ''}"

    # --- what is left ----------------------------------------------------------------------------

    def session(self) -> str:
        """Return the id of the session, "" before anything was said in it."""
        with self._store() as store:
            return next((info.id for info in store.sessions()), "")

    @contextmanager
    def _store(self) -> Iterator[Sessions]:
        store = Sessions(DataFolder(self.base / "data", self.project).sessions)
        try:
            yield store
        finally:
            store.close()

    def records(self) -> list[tuple[int, Record]]:
        """Return what is kept of the one session that there is."""
        with self._store() as store:
            found = store.sessions()
            assert len(found) <= 1, f"more sessions than the one: {found}"
            records = list(store.load(found[0].id)) if found else []
            assert store.warnings() == []
        return records

    def started_tasks(self) -> list[int]:
        """Return the numbers of the tasks that the talk has, each as often as it has it."""
        said = [one.text for _, one in self.records() if isinstance(one, User)]
        return [number for text in said for number in numbers_in(text)]

    def queued_tasks(self) -> list[int]:
        """Return the numbers of the tasks that are kept as waiting."""
        kept = [
            one.value
            for _, one in self.records()
            if isinstance(one, StateRecord) and one.name == "queue"
        ]
        return [n for item in (kept[-1] if kept else []) for n in numbers_in(item["text"])]

    def check(self, waiting: Sequence[int]) -> None:
        """Hold all that is kept against the ledger; *waiting* is what the next start shows."""
        ledger, started = self.log, self.started_tasks()
        assert len({*started, *waiting}) == len(started) + len(waiting), (
            "doubled",
            started,
            waiting,
        )
        lost = ledger.acknowledged - ledger.taking_back - {*started, *waiting}
        assert not lost, ("lost", lost, started, waiting)
        reappeared = ledger.taken_back & {*started, *waiting}
        assert not reappeared, ("taken back, and here again", reappeared, started, waiting)
        assert {*started, *waiting} <= ledger.sent
        self._check_answers()
        self._check_runs()

    def _check_answers(self) -> None:
        records = self.records()
        assert len(records) >= self._record_count, "records were lost"
        self._record_count = len(records)
        answers = [one for _, one in records if isinstance(one, ToolResult)]
        assert len({one.call_id for one in answers}) == len(answers), "answered twice"
        for one in answers:
            assert self._answers.setdefault(one.call_id, one.text) == one.text
        whole = repaired(records)
        assert [one for one in whole if one in records] == records, "out of order"

    def _check_runs(self) -> None:
        """Nothing ran twice, nothing that was not approved; what is called done was."""
        log = self.project / "log.txt"
        executed = [int(line) for line in log.read_text().split()] if log.exists() else []
        assert len(set(executed)) == len(executed), ("run twice", executed)
        created = [int(path.stem) for path in (self.project / "made").glob("*.txt")]
        for number in created:
            assert (self.project / f"made/{number}.txt").read_text() == content(number)
        if self.kind == "approval":
            assert {*executed, *created} <= self.log.approved, ("not approved", executed, created)
        calls = {
            call.id: call
            for _, one in self.records()
            if isinstance(one, Assistant)
            for call in one.calls
        }
        for _, one in self.records():
            if isinstance(one, ToolResult) and one.state == "done" and one.name == "run_command":
                (number,) = re.findall(r"echo (\d+)", calls[one.call_id].arguments)
                assert int(number) in executed, ("called done, and was not", number, executed)

    def undo_all(self) -> None:
        """Take back every turn there is; the project is as it was, to the byte."""
        with assembled_terminal(self.base) as env:
            env.terminal.resume()
            while (answer := _undo_once(env)).ok:
                pass
            assert answer.card
            found = folder_state(self.project)
        assert _files(found) == _files(self.before), (found.keys(), self.before.keys(), answer.card)


def _undo_once(env: AssembledTerminal) -> CommandAnswered:
    (event,) = run_turn(env.terminal, "/undo")
    assert isinstance(event, CommandAnswered)
    return event


def _files(found: FolderState) -> FolderState:
    """Return what is to be the same: all but the time of the folder itself."""
    return {path: one for path, one in found.items() if path != "."}


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill *process*, if it lives, and wait until it is gone."""
    with suppress(ProcessLookupError):
        process.kill()
    process.wait(TIMEOUT_SECONDS)


def wait_until(is_true: Callable[[], object], process: subprocess.Popen[bytes]) -> bool:
    """Wait until *is_true*, and return whether it is; False once *process* is dead."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not is_true():
        if has_ended(process):
            return False
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
    return True


@contextmanager
def killed_session(base: Path, kind: Kind, *, pause: float = 0.0) -> Iterator[KilledSession]:
    """Set a stage; at the end every request must have been valid, and undo gives all back."""
    wire = ScriptedResponder(pause)
    with Simulator(wire) as server:
        yield (made := KilledSession(base, kind, wire, server.url))
        wire.gate.set()
    made.undo_all()
