"""The real program, killed (SIGKILL) again and again while it compacts, asks and queues.

A `Stage` is a project, its data and the model's wire. What the person did is in its `Ledger`; after
each kill `Stage.check` holds what is on disk, and what the next start shows, against that.
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

from core.conversation.history import mended
from core.conversation.messages import Assistant, Record, StateRecord, ToolResult, User
from core.events import CommandAnswered
from modules.sessions import Sessions
from modules.storage.data_folder import DataFolder
from tests.assembly import House, house
from tests.modules.checkpoints.folders import Look, look
from tests.scripted import run
from tests.simulator import Call, Pause, Say, Simulator, Step
from tests.simulator.server import Received

ROOT = Path(__file__).parents[1]
PATIENCE = 120.0
Kind = Literal["compaction", "approval", "queue"]
LIMIT = 9_000
"""Tokens of the window where room is to be made: some four tasks of `PADDING`."""
PADDING = " and take your time" * 220
_TASK = re.compile(r"task (\d+)\b")


@dataclass
class Ledger:
    """What the person said, by the numbers of the tasks, and what they were told of it.

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


class Wire:
    """The model: a task is one command and one file, then a word; a summary comes in pieces.

    While *gate* is closed no reply begins.
    """

    def __init__(self, pause: float = 0.0) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.asked: list[int] = []
        self.digests = 0
        self._pause = pause

    def __call__(self, request: Received) -> Step:
        if "You sum up a conversation" in str(request.messages[0]["content"]):
            self.digests += 1
            return (
                Say("- what was"),
                Pause(0.05),
                Say(" done\n- what"),
                Pause(0.05),
                Say(" is to"),
            )
        number, is_done = _standing(request.messages)
        self.asked.append(number)
        self.gate.wait(PATIENCE)
        if is_done:
            return (Say(f"Did {number}, "), Pause(self._pause), Say("and that is all."))
        return (
            Say(f"I do {number}."),
            Pause(self._pause),
            Call("run_command", command=f"echo {number} >> log.txt; sleep 0.02"),
            Call("create_file", path=f"made/{number}.txt", content=content(number)),
        )


def _standing(messages: Sequence[dict[str, Any]]) -> tuple[int, bool]:
    """Return the number of the task that is on, and whether its calls are answered."""
    said = [place for place, one in enumerate(messages) if one["role"] == "user"]
    numbers = numbers_in(str(messages[said[-1]]["content"]))
    return numbers[-1], any(one["role"] == "tool" for one in messages[said[-1] :])


def content(number: int) -> str:
    return f"line of {number}\n" * 50


def numbers_in(text: str) -> list[int]:
    return [int(number) for number in _TASK.findall(text)]


class Stage:
    """A project in *base* with one session, the wire and the ledger; *kind* is what is killed."""

    def __init__(self, base: Path, kind: Kind, wire: Wire, url: str) -> None:
        self.base, self.kind, self.wire = base, kind, wire
        self.project.mkdir(parents=True)
        (self.project / "kept.txt").write_text("kept\n")
        (self.project / "kept.txt").chmod(0o640)
        self.before = look(self.project)
        self.ledger = Ledger()
        self.killed = 0
        self._known = 0
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
        return [sys.executable, "-m", "tests.dying", *words, *([] if is_attached else approve)]

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

    def begun(self) -> list[int]:
        """Return the numbers of the tasks that the talk has, each as often as it has it."""
        said = [one.text for _, one in self.records() if isinstance(one, User)]
        return [number for text in said for number in numbers_in(text)]

    def queued(self) -> list[int]:
        """Return the numbers of the tasks that are kept as waiting."""
        kept = [
            one.value
            for _, one in self.records()
            if isinstance(one, StateRecord) and one.name == "queue"
        ]
        return [n for item in (kept[-1] if kept else []) for n in numbers_in(item["text"])]

    def check(self, waiting: Sequence[int]) -> None:
        """Hold all that is kept against the ledger; *waiting* is what the next start shows."""
        ledger, begun = self.ledger, self.begun()
        assert len({*begun, *waiting}) == len(begun) + len(waiting), ("doubled", begun, waiting)
        lost = ledger.acknowledged - ledger.taking_back - {*begun, *waiting}
        assert not lost, ("lost", lost, begun, waiting)
        back = ledger.taken_back & {*begun, *waiting}
        assert not back, ("taken back, and here again", back, begun, waiting)
        assert {*begun, *waiting} <= ledger.sent
        self._check_answers()
        self._check_runs()

    def _check_answers(self) -> None:
        records = self.records()
        assert len(records) >= self._known, "records were lost"
        self._known = len(records)
        answers = [one for _, one in records if isinstance(one, ToolResult)]
        assert len({one.call_id for one in answers}) == len(answers), "answered twice"
        for one in answers:
            assert self._answers.setdefault(one.call_id, one.text) == one.text
        whole = mended(records)
        assert [one for one in whole if one in records] == records, "out of order"

    def _check_runs(self) -> None:
        """Nothing ran twice, nothing that was not approved; what is called done was."""
        log = self.project / "log.txt"
        ran = [int(line) for line in log.read_text().split()] if log.exists() else []
        assert len(set(ran)) == len(ran), ("run twice", ran)
        made = [int(path.stem) for path in (self.project / "made").glob("*.txt")]
        for number in made:
            assert (self.project / f"made/{number}.txt").read_text() == content(number)
        if self.kind == "approval":
            assert {*ran, *made} <= self.ledger.approved, ("not approved", ran, made)
        calls = {
            call.id: call
            for _, one in self.records()
            if isinstance(one, Assistant)
            for call in one.calls
        }
        for _, one in self.records():
            if isinstance(one, ToolResult) and one.state == "done" and one.name == "run_command":
                (number,) = re.findall(r"echo (\d+)", calls[one.call_id].arguments)
                assert int(number) in ran, ("called done, and was not", number, ran)

    def undo_all(self) -> None:
        """Take back every turn there is; the project is as it was, to the byte."""
        with house(self.base) as here:
            here.main.resume()
            while (said := _undone(here)).ok:
                pass
            assert said.card
            found = look(self.project)
        assert _files(found) == _files(self.before), (found.keys(), self.before.keys(), said.card)


def _undone(here: House) -> CommandAnswered:
    (event,) = run(here.main, "/undo")
    assert isinstance(event, CommandAnswered)
    return event


def _files(found: Look) -> Look:
    """Return what is to be the same: all but the time of the folder itself."""
    return {path: one for path, one in found.items() if path != "."}


def ended(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill *process*, if it lives, and wait until it is gone."""
    with suppress(ProcessLookupError):
        process.kill()
    process.wait(PATIENCE)


def until(is_true: Callable[[], object], process: subprocess.Popen[bytes]) -> bool:
    """Wait until *is_true*, and return whether it is; False once *process* is dead."""
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        if ended(process):
            return False
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
    return True


@contextmanager
def stage(base: Path, kind: Kind, *, pause: float = 0.0) -> Iterator[Stage]:
    """Set a stage; at the end every request must have been valid, and undo gives all back."""
    wire = Wire(pause)
    with Simulator(wire) as server:
        yield (made := Stage(base, kind, wire, server.url))
        wire.gate.set()
    made.undo_all()
