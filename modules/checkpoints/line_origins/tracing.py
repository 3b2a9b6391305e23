"""Tracing: the origins of a file's lines as it is on the disk now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from modules.checkpoints.line_origins.after_kill import others_after_kill
from modules.checkpoints.line_origins.call_edits import ArgumentsOf, CallEdits
from modules.checkpoints.line_origins.file_states import FileState, FileStates
from modules.checkpoints.line_origins.fold import Fold
from modules.checkpoints.line_origins.origins import UNKNOWN, FileOrigins
from modules.checkpoints.line_origins.timeline import OTHERS, State, Timeline
from modules.checkpoints.snapshot.entries import digest
from modules.checkpoints.store.object_store import DamagedObject
from modules.checkpoints.undo.background_ids import IN_BACKGROUND
from modules.files.editing.text_file import NotText, TextFile

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints


class Tracing:
    """Traces lines with *checkpoints*, from all that they hold; everything raises `UserError`.

    It reads what is kept once, when it is made: what happens later needs a new one. What
    *arguments_of* calls is told of says which lines their edits left, where lines read the same.
    """

    def __init__(self, checkpoints: Checkpoints, arguments_of: ArgumentsOf) -> None:
        self._checkpoints = checkpoints
        self._edits = CallEdits(arguments_of, self._text)
        timeline = Timeline(checkpoints.objects)
        self._now = checkpoints.take().id
        self._first = next((one.snapshot for one in timeline.states if one.snapshot), 0)
        now = State(self._now, timeline.last_writer)
        later = self._later_than_call(timeline)
        self._states = FileStates(checkpoints, [*timeline.states, *later, now])
        self._texts: dict[str, tuple[tuple[str, ...], str]] = {}

    def _later_than_call(self, timeline: Timeline) -> list[State]:
        """Return what others did since a kill, where the call that it ended is the last writer."""
        call, before = timeline.last_writer, timeline.last_snapshot
        if call.writer != "call" or call.call_id.endswith(IN_BACKGROUND):
            return []
        found = others_after_kill(self._checkpoints, before, self._now) if before else []
        return [
            state
            for one in found
            if one.new.is_file
            for state in (
                State(0, call, one.path, one.old.content if one.old else ""),
                State(0, OTHERS, one.path, one.new.content),
            )
        ]

    def trace(self, path: str, data: bytes | None = None) -> FileOrigins | None:
        """Return the origins of the lines of the file *path*, None where there never was one.

        *data* is what it holds, where that may be another than it was a moment ago.
        """
        states = self._states.of(path)
        if data is not None and states[-1].digest != (now := digest(data)):
            states = [*states, FileState(states[-1].state, path, now)]
            self._texts[now] = _decode(data)
        return self._fold(path, states)

    def trace_committed(self, path: str, data: bytes) -> FileOrigins | None:
        """Return the same of a file that held *data* when it was committed.

        Lines that none of its states has in that place come from nobody knows where.
        """
        states, key = self._states.of(path), digest(data)
        self._texts[key] = _decode(data)
        last = max((n for n, one in enumerate(states) if one.digest == key), default=-1)
        if last < 0:
            return self._fold(path, [*states, FileState(State(0, UNKNOWN), path, key)])
        return self._fold(path, states[: last + 1])

    def changed_paths(self) -> list[str]:
        """Return what differs now from the first state that is kept, sorted."""
        changes = self._checkpoints.diff(self._first, self._now) if self._first else []
        return sorted(one.new_path or one.path for one in changes if one.kind != "deleted")

    def _fold(self, path: str, states: Sequence[FileState]) -> FileOrigins | None:
        if not any(one.digest for one in states):
            return None
        fold = Fold(self._lines, self._edits.kept_lines)
        origins = fold.run(states)
        last = states[-1].digest
        if not last:
            return FileOrigins(path, (), (fold.last_change,), is_gone=True)
        lines, kind = self._texts.get(last, ((), ""))
        return FileOrigins(path, lines, origins, kind, former=_former(states))

    def _lines(self, key: str) -> tuple[str, ...] | None:
        """Return the lines of a content, all of it as one where it is no text."""
        if key not in self._texts:
            if key.startswith("→"):
                self._texts[key] = (key,), "link"
                return (key,)
            try:
                self._texts[key] = _decode(self._checkpoints.objects.read(key))
            except DamagedObject:
                return None
        return self._texts[key][0]

    def _text(self, key: str) -> str | None:
        """Return the text of a content, None where it is none or is not kept."""
        if not key or key.startswith("→"):
            return None
        try:
            return TextFile.decode(self._checkpoints.objects.read(key)).text
        except (DamagedObject, NotText):
            return None


def _decode(data: bytes) -> tuple[tuple[str, ...], str]:
    """Return the lines of *data* without their ends, and what it is if it is no text."""
    try:
        text = TextFile.decode(data).text
    except NotText as error:
        return (digest(data),), error.kind
    lines = text.split("\n")
    return tuple(lines if lines[-1] else lines[:-1]), ""


def _former(states: Sequence[FileState]) -> tuple[str, ...]:
    """Return the paths that the file had before, the newest first."""
    paths = [one.path for one in reversed(states) if one.digest]
    return tuple(dict.fromkeys(path for path in paths if path != paths[0]))
