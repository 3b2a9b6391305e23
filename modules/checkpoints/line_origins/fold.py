"""The fold: which of the states of a file each line of the last one came with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from modules.checkpoints.line_origins.file_states import NOT_HELD, FileState
from modules.checkpoints.line_origins.line_alignment import KeptLines, Lines, kept_lines
from modules.checkpoints.line_origins.origins import THERE_BEFORE, UNKNOWN, Origin
from modules.checkpoints.line_origins.timeline import State


@dataclass(frozen=True, slots=True)
class _Version:
    """A text with the origin of each line; *digest* "" is for no file."""

    digest: str
    lines: Lines
    origins: tuple[Origin, ...]


KeptByEdit = Callable[[Origin, str, str, str], Sequence[KeptLines] | None]
"""Says what the edit of a call kept of a file at a path, of one digest in another, if it can."""


class Fold:
    """Folds the states of a file; *read* gives the lines of a digest, None where they are lost.

    Where *kept_by_edit* cannot say what stayed, the two texts do.
    """

    def __init__(self, read: Callable[[str], Lines | None], kept_by_edit: KeptByEdit) -> None:
        self._read = read
        self._kept_by_edit = kept_by_edit
        self._by_snapshot: dict[int, _Version] = {}
        self._removed: dict[str, Origin] = {}
        self._is_lost = False
        self.last_change: Origin = THERE_BEFORE
        """Who made the last state of those that differ."""
        self._version = _Version("", (), ())

    def run(self, states: Sequence[FileState]) -> tuple[Origin, ...]:
        """Return the origin of each line of the last of *states*."""
        for number, one in enumerate(states):
            if one.digest == NOT_HELD:
                self._is_lost = True
            elif number == 0:
                lines = self._lines(one.digest)
                self._version = _Version(one.digest, lines, (THERE_BEFORE,) * len(lines))
            elif one.digest != self._version.digest:
                self._step(one)
            if one.state.snapshot:
                self._by_snapshot[one.state.snapshot] = self._version
        return self._version.origins

    def _lines(self, digest: str) -> Lines:
        lines = self._read(digest) if digest else ()
        if lines is None:
            self._is_lost = True
            return ()
        return lines

    def _step(self, one: FileState) -> None:
        """Go on to the text of *one*: lines that stay keep their origins."""
        old, was_lost, self._is_lost = self._version, self._is_lost, False
        lines = self._lines(one.digest)
        origin = UNKNOWN if was_lost else one.state.origin
        origins = [origin] * len(lines)
        if one.state.brings_back and not was_lost:
            self._bring_back(one.state, lines, origins)
        known = None if was_lost else self._kept_by_edit(origin, one.path, old.digest, one.digest)
        kept = _keep(old, lines, origins, known)
        source = self._by_snapshot.get(one.state.source) if one.state.brings_back else None
        if source and source.digest == one.digest:  # all of it as it was
            origins = [*source.origins]
        for number, line in enumerate(old.lines):
            if number not in kept:
                self._removed[line] = old.origins[number]
        self._version = _Version(one.digest, lines, tuple(origins))
        self.last_change = origin

    def _bring_back(self, state: State, lines: Lines, origins: list[Origin]) -> None:
        """Give the *lines* of an undo the origins that they had."""
        for number, line in enumerate(lines):
            origins[number] = self._removed.get(line, origins[number])
        if source := self._by_snapshot.get(state.source):
            _keep(source, lines, origins)


def _keep(
    old: _Version,
    lines: Lines,
    origins: list[Origin],
    known: Sequence[KeptLines] | None = None,
) -> set[int]:
    """Give those of *lines* that *old* has their origins in it; return which of its lines stay.

    These are *known*, or what the texts have in common.
    """
    kept: set[int] = set()
    for start, new_start, count in kept_lines(old.lines, lines) if known is None else known:
        origins[new_start : new_start + count] = old.origins[start : start + count]
        kept.update(range(start, start + count))
    return kept
