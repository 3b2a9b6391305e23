"""Putting back what a note protects, which something else than a call of the model's changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

from core.cards import TextCard
from core.feature import Answer, Feature, Question
from core.hooks import AsksPerson
from core.tools import ToolError
from modules.files.editing.text_file import NotText, TextFile
from modules.files.project import MissingPath, Project
from modules.notes.line_notes import LineNote, located
from modules.notes.note_book import BrokenProtection
from utils.i18n import Phrase, phrase
from utils.text.clean import visible
from utils.text.line_diff import line_changes
from utils.text.lines import lines_of


class ProtectingNotes(Protocol):
    """Notes that protect; *broken_at_start* is what was broken when they were first read."""

    broken_at_start: frozenset[BrokenProtection]

    def broken(self) -> Sequence[BrokenProtection]: ...

    def line_notes(self, path: str) -> tuple[LineNote, ...]: ...

    def protected_digest(self, path: str) -> str:
        """Return of what content (SHA-256) the note on all of *path* is, "" for no such note."""

    def accept(self, path: str) -> None:
        """Have the note on all of *path* protect it as it is now."""

    def sync(self) -> None: ...


class PuttingBack(Feature, AsksPerson):
    """Asks whether to put back what *notes* protect: a job, a server or another program broke it.

    *contents_of* gives what a file held, the newest first; *record* is told what was written, with
    the path and the bytes before and after. *take_asked* returns of which paths the person was
    asked elsewhere. Where nobody answers it stays, and a warning says so.
    """

    def __init__(
        self,
        project: Project,
        notes: ProtectingNotes,
        *,
        contents_of: Callable[[str], Iterable[bytes]],
        record: Callable[[str, bytes | None, bytes], None],
        take_asked: Callable[[], Collection[str]],
    ) -> None:
        self._project = project
        self._notes = notes
        self._contents_of = contents_of
        self._record = record
        self._take_asked = take_asked
        self._asked: frozenset[BrokenProtection] | None = None

    def questions(self) -> Sequence[Question]:
        broken, asked_paths = self._notes.broken(), self._take_asked()
        asked = self._notes.broken_at_start if self._asked is None else self._asked
        self._asked = frozenset(broken)
        by_path: dict[str, list[BrokenProtection]] = {}
        for one in broken:
            if one not in asked and one.path not in asked_paths:
                by_path.setdefault(one.path, []).append(one)
        whole = {path: self._whole(path) for path in by_path}
        return [self._question(path, by_path[path], data) for path, data in whole.items() if data]

    def _question(self, path: str, broken: Sequence[BrokenProtection], whole: bytes) -> Question:
        places = "\n".join(
            f"{visible(path)}{f':{one.place}' if one.place else ''}: {visible(one.text)}"
            for one in broken
        )
        digest = hashlib.sha256(repr((path, [one.lines for one in broken])).encode()).hexdigest()
        return Question(
            f"protected-{digest[:12]}",
            "put back",
            path,
            phrase(
                "Something that a note protects was changed outside of the calls. Yes "
                "restores it; no keeps the change."
            ),
            TextCard(phrase("Protected by a note"), places),
            lambda answer: self._answered(answer, path, broken, whole),
        )

    def _answered(
        self, answer: Answer, path: str, broken: Sequence[BrokenProtection], whole: bytes
    ) -> Phrase:
        if answer != "yes":
            if answer == "no":
                self._notes.accept(path)
            return phrase("Left unchanged.")
        try:
            self._put_back(path, broken, whole)
        except ToolError as error:
            return phrase("Could not restore it: {why}", why=error.message)
        self._notes.sync()
        return phrase("The protected content was restored.")

    def _put_back(self, path: str, broken: Sequence[BrokenProtection], whole: bytes) -> None:
        before, after = self._read(path), whole
        if before is not None and all(one.lines for one in broken):
            notes = [one for one in self._notes.line_notes(path) if one.is_stale]
            after = _with_lines_of(whole, before, notes)
        self._project.write_bytes(path, after, make_folders=True, expected=before)
        self._record(path, before, after)

    def _whole(self, path: str) -> bytes | None:
        """Return the newest content of *path* with all in it that is protected, None for none."""
        now = self._read(path)
        wanted = [one for one in self._notes.line_notes(path) if one.is_stale and one.is_protecting]
        digest = self._notes.protected_digest(path)
        for data in self._contents_of(path):
            if data == now or (digest and hashlib.sha256(data).hexdigest() != digest):
                continue
            if not any(one.is_stale for one in located(wanted, _lines(data))):
                return data
        return None

    def _read(self, path: str) -> bytes | None:
        try:
            return self._project.read_bytes(path)
        except MissingPath:
            return None


def _with_lines_of(old: bytes, new: bytes, notes: Sequence[LineNote]) -> bytes:
    """Return *new* with the lines of *notes* as they are in *old*, and all else as it is."""
    try:
        old_lines, file = TextFile.decode(old).text.split("\n"), TextFile.decode(new)
    except NotText:
        return old
    new_lines = file.text.split("\n")
    changes = line_changes(old_lines, new_lines)
    if changes is None:
        return old
    spans = [(one.start - 1, one.end) for one in located(notes, old_lines)]
    for change in reversed(changes):
        if any(change.start < end and change.end > start for start, end in spans) or any(
            start < change.start < end for start, end in spans
        ):
            new_lines[change.new_start : change.new_end] = old_lines[change.start : change.end]
    return file.encode("\n".join(new_lines))


def _lines(data: bytes) -> list[str]:
    try:
        return lines_of(TextFile.decode(data).text)
    except NotText:
        return []
