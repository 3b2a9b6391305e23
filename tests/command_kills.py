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
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.kill_at_change import kill_at
from tests.modules.checkpoints.folders import FolderState, folder_state
from tests.scripted_model import call_reply, calls_reply, run_turn, text_reply

_FORKS = multiprocessing.get_context("forkserver")
"""Forks of a process of its own: those of ours would have the threads of other tests."""
COMMANDS = ("/undo", "/undo call", "/redo", "/rewind 2", "/rewind 2 files", "/rewind 2 talk")


@dataclass(frozen=True)
class State:
    """State that a command changes: the files, state of features, the conversation, the records."""

    files: FolderState
    feature_state: dict[str, Any]
    turns: tuple[int, ...]
    undone: tuple[tuple[int, bool], ...]
    can_redo: bool


def state_of(env: AssembledTerminal) -> State:
    feature_state = env.terminal.features.state()
    undo = undo_commands_of(env)
    return State(
        folder_state(env.root),
        {name: feature_state[name] for name in ("notes", "todos", "focus")},
        tuple(env.terminal.history.turns),
        tuple((one.number, bool(one.is_undone)) for one in undo.calls()),
        undo.can_redo,
    )


def undo_commands_of(env: AssembledTerminal) -> UndoCommands:
    return next(one for one in env.terminal.features if isinstance(one, UndoCommands))


def run_command(env: AssembledTerminal, line: str) -> CommandAnswered:
    (event,) = run_turn(env.terminal, line)
    assert isinstance(event, CommandAnswered)
    return event


class CommandKills:
    """Prepares a project in *base* once, and kills commands in it."""

    def __init__(self, base: Path) -> None:
        self._base, self._snapshots = base / "stage", base / "kept"
        self._snapshots.mkdir(parents=True)
        self._base.mkdir()
        with self.open(*_TASKS) as env:
            _fill(env.root)
            run_turn(env.terminal, "first")
            run_turn(env.terminal, "/note big/0.txt by me")
            run_turn(env.terminal, "second")
        self.save_snapshot("done")
        self.expected_states = {
            line: self._expected_state(line) for line in COMMANDS if line != "/redo"
        }
        self.restore_snapshot("done")
        self._run_command("/undo")
        self.save_snapshot("undone")
        self.expected_states["/redo"] = self._expected_state("/redo")

    def _expected_state(self, line: str) -> State:
        self.restore_snapshot(START[line])
        self._run_command(line)
        return self.current_state()

    def _run_command(self, line: str) -> None:
        with self.open() as env:
            event = run_command(env, line)
            assert event.ok, event.card

    def current_state(self) -> State:
        with self.open() as env:
            return state_of(env)

    def state_at(self, line: str) -> State:
        """Return the state that *line* starts from."""
        self.restore_snapshot(START[line])
        return self.current_state()

    def open(self, *replies: Any) -> AbstractContextManager[AssembledTerminal]:
        """Start anew on the stage, in the session that there is."""
        return _resumed(self._base, *replies)

    def save_snapshot(self, name: str) -> None:
        shutil.copytree(self._base, self._snapshots / name, symlinks=True)

    def restore_snapshot(self, name: str) -> None:
        shutil.rmtree(self._base)
        shutil.copytree(self._snapshots / name, self._base, symlinks=True)

    def changes_of(self, line: str) -> int:
        """Run *line* whole; return how many changes it makes."""
        self.restore_snapshot(START[line])
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
    with _resumed(base) as env:
        count = _kill_at_change(change)
        event = run_command(env, line)
        if sender:
            sender.send(count())
        sys.exit(0 if event.ok else 2)


@contextmanager
def _resumed(base: Path, *replies: Any) -> Iterator[AssembledTerminal]:
    """Start anew on the stage *base*, in the session that there is."""
    with assembled_terminal(base, *replies) as env:
        if env.store.sessions():
            env.terminal.resume()
        yield env


def _kill_at_change(change: int) -> Callable[[], int]:
    """Kill this process right before its *change*; return what tells how many there were."""
    step = kill_at(change)
    libc = kernel._libc()

    class Stepping:
        def __getattr__(self, name: str) -> Any:
            step()
            return getattr(libc, name)

    kernel._libc = lambda: Stepping()  # type: ignore[assignment]
    return lambda: step() - 1


def check_kill(kills: CommandKills, line: str, change: int) -> bool:
    """Kill *line* at *change* and see that all is as it was before or will be after it.

    First to a task that only reads, then to who takes the command back at once. Returns whether the
    command came that far.
    """
    before = kills.state_at(line)
    for is_looking in (True, False):
        kills.restore_snapshot(START[line])
        if not kills.kill_at(line, change):
            return False
        with kills.open(call_reply("list_files"), text_reply("looked")) as env:
            if is_looking:
                run_turn(env.terminal, "look")
                found = _without_task(state_of(env))
                assert found in (before, kills.expected_states[line]), (
                    line,
                    change,
                    _difference(found, before),
                )
                is_done = found != before
            event = run_command(env, BACK[line])
            found = state_of(env)
        found = _without_task(found) if is_looking else found
        assert event.ok is is_done or not is_looking, (line, change, event.card)
        if event.ok:
            assert _is_same_apart_from_undo(found, before), (
                line,
                change,
                event.card,
                _difference(found, before),
            )
    return True


def _is_same_apart_from_undo(one: State, other: State) -> bool:
    """Return whether both are the same but for what can be taken back."""
    return (one.files, one.feature_state, one.turns) == (
        other.files,
        other.feature_state,
        other.turns,
    )


def _difference(one: State, other: State) -> object:
    """Return what differs, for people."""
    paths = one.files.keys() | other.files.keys()
    files = sorted(p for p in paths if one.files.get(p) != other.files.get(p))
    return files, one.feature_state, other.feature_state, one.turns, one.undone, one.can_redo


def _without_task(state: State) -> State:
    return replace(state, turns=state.turns[:-1])


START = dict.fromkeys(COMMANDS, "done") | {"/redo": "undone"}
BACK = dict.fromkeys(COMMANDS, "/redo") | {"/redo": "/undo turn 2"}
_FILES = 40
_TASKS = [
    calls_reply(
        ("c1", "create_file", '{"path": "a/b/new.txt", "content": "one\\n"}'),
        ("c2", "annotate_file", '{"path": "big/1.txt", "note": "first"}'),
        ("c3", "update_todos", '{"todos": [{"title": "first", "status": "pending"}]}'),
        ("c4", "focus_file", '{"path": "big/2.txt"}'),
    ),
    text_reply("did one"),
    text_reply("did one, that is all"),
    calls_reply(
        ("d1", "rename_file", '{"path": "moved", "new_path": "there"}'),
        ("d2", "delete_folder", '{"path": "big/deep", "recursive": true}'),
        ("d3", "modify_file", '{"path": "big/3.txt", "old": "3", "new": "three"}'),
        ("d4", "delete_file", '{"path": "link"}'),
        ("d5", "annotate_file", '{"path": "big/1.txt", "note": "second"}'),
        ("d6", "update_todos", '{"todos": [{"title": "second", "status": "completed"}]}'),
        ("d7", "focus_file", '{"path": "big/4.txt"}'),
        ("d8", "create_file", '{"path": "big/4.txt", "content": "other", "overwrite": true}'),
    ),
    text_reply("did two"),
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
