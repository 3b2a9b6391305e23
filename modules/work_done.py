"""What a session has done, as it is known without a model: files, and runs with how they ended."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from core.cards import Card, Change, RunCard
from core.conversation.messages import Assistant, Record, ShellResult, ToolCall, ToolResult
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, RemembersWork
from core.tools import Risk
from utils.frozen import frozen
from utils.i18n import Phrase, UserError

if TYPE_CHECKING:
    from modules.checkpoints.undo.undo_commands import UndoCommands

MAX_FILES, MAX_READ, MAX_RUNS = 60, 30, 25
"""Files that were changed, files that were read, and runs that are named; of more the newest."""
_MAX_LENGTH = 160
"""Characters of a run."""


@frozen
class _Run:
    """A run in *turn*, one of so many *times*; *end* is how it ended."""

    turn: int
    end: str
    times: int


class WorkDone(Feature, BindsToSession, RemembersWork):
    """Tells a model whose older turns were summed up what they did, as *undo* and calls know it."""

    _session: SessionHandle

    def __init__(self, undo: UndoCommands) -> None:
        self._undo = undo

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    def compaction_notes(self) -> str:
        lists = [
            ("Files that this session has changed, as they are now:", self._changed()),
            ("Files and folders that it has looked at:", self._read()),
            ("What it has run, and how the last run of each ended:", self._runs()),
        ]
        return "\n".join(
            line for title, lines in lists if lines for line in (title, *(f"- {n}" for n in lines))
        )

    def unfinished_work(self) -> Phrase | None:
        return None

    def _changed(self) -> list[str]:
        try:
            changes = self._undo.session_changes()
        except UserError:  # nothing is kept of the files, or no longer
            return []
        lines = [_change_line(change) for change in changes]
        left_out = len(lines) - MAX_FILES
        return [*lines[:MAX_FILES], *([f"and {left_out} more"] if left_out > 0 else [])]

    def _read(self) -> list[str]:
        """Return the paths in calls that only read, each once."""
        specs = self._session.tools.specs
        paths: dict[str, None] = {}
        for _, record in self._session.history.records:
            for call in _calls_in(record):
                spec = specs.get(call.name)
                path = json.loads(call.arguments).get("path")
                if spec and spec.risk is Risk.READ and isinstance(path, str) and path[:1] != "@":
                    paths.pop(path, None)
                    paths[path] = None
        return list(paths)[-MAX_READ:]

    def _runs(self) -> list[str]:
        runs: dict[str, _Run] = {}
        for turn, record in self._session.history.records:
            if found := _run_in(record):
                what, end = found
                earlier = runs.pop(what, None)
                runs[what] = _Run(turn, end, earlier.times + 1 if earlier else 1)
        return [
            f"[turn {run.turn}] {what}: {run.end}"
            + (f" ({run.times} times in all)" if run.times > 1 else "")
            for what, run in runs.items()
        ][-MAX_RUNS:]


def _change_line(change: Change) -> str:
    to = f" to {change.new_path}" if change.new_path else ""
    return f"{change.kind} {change.path}{to}"


def _calls_in(record: Record) -> Sequence[ToolCall]:
    match record:
        case Assistant(calls=calls):
            return calls
        case ShellResult(read=ToolCall() as call):
            return (call,)
        case _:
            return ()


def _run_in(record: Record) -> tuple[str, str] | None:
    """Return what *record* tells to have been run, and how it ended; None for no run."""
    match record:
        case ToolResult(card=RunCard() as card):
            return _first_lines(card.code), _end(card)
        case ShellResult(command=command, card=card, is_private=False, read=None):
            who = "a check of the project" if record.check else "by the person"
            return f"{_first_lines(command)} ({who})", _end(card)
        case _:
            return None


def _end(card: Card) -> str:
    if not isinstance(card, RunCard):
        return "did not run"
    if card.job and card.exit_code is None:
        return f"went on in the background as job {card.job}"
    return f"ended: {card.why}" if card.exit_code is None else f"exit {card.exit_code}"


def _first_lines(code: str) -> str:
    text = " ⏎ ".join(_lines(code))
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def _lines(code: str) -> Iterator[str]:
    lines: Sequence[str] = [line.strip() for line in code.splitlines()]
    return filter(None, lines)
