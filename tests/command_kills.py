"""Kills within a command: at each moment in turn at which it changes anything on disk.

The command runs in a child of its own, on the real assembly, and is killed there (SIGKILL) right
before its n-th change of a file, a folder or a database. What is left must be a state in which the
command either was never given or is done to the end, files, records and conversation alike.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from core.events import CommandAnswered
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.files import kernel
from tests.assembly import House, house
from tests.dying import kill_at
from tests.modules.checkpoints.folders import Look, look
from tests.scripted import call, calls, run, say

_FORKS = multiprocessing.get_context("forkserver")
"""Forks of a process of its own: those of ours would have the threads of other tests."""
COMMANDS = ("/undo", "/undo call", "/redo", "/rewind 2", "/rewind 2 files", "/rewind 2 talk")


@dataclass(frozen=True)
class State:
    """What a command changes: the files, what is kept beside them, the talk, the records."""

    files: Look
    beside: dict[str, Any]
    turns: tuple[int, ...]
    undone: tuple[tuple[int, bool], ...]
    can_redo: bool


def state_of(here: House) -> State:
    beside = here.main.features.state()
    undo = undo_of(here)
    return State(
        look(here.root),
        {name: beside[name] for name in ("notes", "todos", "focus")},
        tuple(here.main.history.turns),
        tuple((one.number, bool(one.is_undone)) for one in undo.calls()),
        undo.can_redo,
    )


def undo_of(here: House) -> UndoCommands:
    return next(one for one in here.main.families if isinstance(one, UndoCommands))


def answer(here: House, line: str) -> CommandAnswered:
    (event,) = run(here.main, line)
    assert isinstance(event, CommandAnswered)
    return event


class CommandKills:
    """Sets a stage in *base* once, and lets commands be killed on it."""

    def __init__(self, base: Path) -> None:
        self._base, self._stage = base / "stage", base / "kept"
        self._stage.mkdir(parents=True)
        self._base.mkdir()
        with self.open(*_TASKS) as here:
            _fill(here.root)
            run(here.main, "first")
            run(here.main, "/note big/0.txt by me")
            run(here.main, "second")
        self.keep("done")
        self.ends = {line: self._end_of(line) for line in COMMANDS if line != "/redo"}
        self.restore("done")
        self._play("/undo")
        self.keep("undone")
        self.ends["/redo"] = self._end_of("/redo")

    def _end_of(self, line: str) -> State:
        self.restore(START[line])
        self._play(line)
        return self.now()

    def _play(self, line: str) -> None:
        with self.open() as here:
            event = answer(here, line)
            assert event.ok, event.card

    def now(self) -> State:
        with self.open() as here:
            return state_of(here)

    def state_at(self, line: str) -> State:
        """Return the state that *line* starts from."""
        self.restore(START[line])
        return self.now()

    def open(self, *replies: Any) -> AbstractContextManager[House]:
        """Start anew on the stage, in the session that there is."""
        return _resumed(self._base, *replies)

    def keep(self, name: str) -> None:
        shutil.copytree(self._base, self._stage / name, symlinks=True)

    def restore(self, name: str) -> None:
        shutil.rmtree(self._base)
        shutil.copytree(self._stage / name, self._base, symlinks=True)

    def changes_of(self, line: str) -> int:
        """Run *line* whole; return how many changes it makes."""
        self.restore(START[line])
        receiver, sender = _FORKS.Pipe(duplex=False)
        with receiver, sender:
            assert self._run(line, 0, sender) == 0
            return int(receiver.recv())

    def kill_at(self, line: str, change: int) -> bool:
        """Run *line* and kill it right before its *change*, from 1; return whether that came."""
        code = self._run(line, change, None)
        assert code in (0, -signal.SIGKILL)
        return code != 0

    def _run(self, line: str, change: int, sender: Connection | None) -> int | None:
        child = _FORKS.Process(target=_run_in_child, args=(self._base, line, change, sender))
        child.start()
        child.join()
        code = child.exitcode
        child.close()
        return code


def _run_in_child(base: Path, line: str, change: int, sender: Connection | None) -> None:
    with _resumed(base) as here:
        count = _counting(change)
        event = answer(here, line)
        if sender:
            sender.send(count())
        sys.exit(0 if event.ok else 2)


@contextmanager
def _resumed(base: Path, *replies: Any) -> Iterator[House]:
    """Start anew on the stage *base*, in the session that there is."""
    with house(base, *replies) as here:
        if here.store.sessions():
            here.main.resume()
        yield here


def _counting(change: int) -> Callable[[], int]:
    """Kill this process right before its *change*; return what tells how many there were."""
    step = kill_at(change)
    libc = kernel._libc()

    class Stepping:
        def __getattr__(self, name: str) -> Any:
            step()
            return getattr(libc, name)

    kernel._libc = lambda: Stepping()  # type: ignore[assignment]
    return lambda: step() - 1


def check(kills: CommandKills, line: str, change: int) -> bool:
    """Kill *line* at *change* and see that all is as it was before or will be after it.

    First to a task that only reads, then to who takes the command back at once. Returns whether the
    command came that far.
    """
    before = kills.state_at(line)
    for is_looking in (True, False):
        kills.restore(START[line])
        if not kills.kill_at(line, change):
            return False
        with kills.open(call("list_files"), say("looked")) as here:
            if is_looking:
                run(here.main, "look")
                found = _without_task(state_of(here))
                assert found in (before, kills.ends[line]), (line, change, _told(found, before))
                is_done = found != before
            event = answer(here, BACK[line])
            found = state_of(here)
        found = _without_task(found) if is_looking else found
        assert event.ok is is_done or not is_looking, (line, change, event.card)
        if event.ok:
            assert _same_place(found, before), (line, change, event.card, _told(found, before))
    return True


def _same_place(one: State, other: State) -> bool:
    """Return whether both are the same but for what can be taken back."""
    return (one.files, one.beside, one.turns) == (other.files, other.beside, other.turns)


def _told(one: State, other: State) -> object:
    """Return what differs, for people."""
    paths = one.files.keys() | other.files.keys()
    files = sorted(p for p in paths if one.files.get(p) != other.files.get(p))
    return files, one.beside, other.beside, one.turns, one.undone, one.can_redo


def _without_task(state: State) -> State:
    return replace(state, turns=state.turns[:-1])


START = dict.fromkeys(COMMANDS, "done") | {"/redo": "undone"}
BACK = dict.fromkeys(COMMANDS, "/redo") | {"/redo": "/undo turn 2"}
_FILES = 40
_TASKS = [
    calls(
        ("c1", "create_file", '{"path": "a/b/new.txt", "content": "one\\n"}'),
        ("c2", "annotate_file", '{"path": "big/1.txt", "note": "first"}'),
        ("c3", "update_todos", '{"todos": [{"title": "first", "status": "pending"}]}'),
        ("c4", "focus_file", '{"path": "big/2.txt"}'),
    ),
    say("did one"),
    calls(
        ("d1", "rename_file", '{"path": "moved", "new_path": "there"}'),
        ("d2", "delete_folder", '{"path": "big/deep", "recursive": true}'),
        ("d3", "modify_file", '{"path": "big/3.txt", "old": "3", "new": "three"}'),
        ("d4", "delete_file", '{"path": "link"}'),
        ("d5", "annotate_file", '{"path": "big/1.txt", "note": "second"}'),
        ("d6", "update_todos", '{"todos": [{"title": "second", "status": "completed"}]}'),
        ("d7", "focus_file", '{"path": "big/4.txt"}'),
        ("d8", "create_file", '{"path": "big/4.txt", "content": "other", "overwrite": true}'),
    ),
    say("did two"),
]


def _fill(root: Path) -> None:
    for number in range(_FILES):
        for folder in ("big", "big/deep/er", "moved"):
            path = root / folder / f"{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{number}\n")
    (root / "link").symlink_to("big/0.txt")
    (root / "big/deep/er/0.txt").chmod(0o400)
    (root / "big/deep").chmod(0o750)
    for number, path in enumerate(sorted(root.rglob("*"), reverse=True)):
        moment = 1_600_000_000_000_000_000 + number
        os.utime(path, ns=(moment, moment), follow_symlinks=False)
