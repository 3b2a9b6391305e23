"""Protection of what a note says not to touch: refused to tools, put back after runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol

from core.cards import Change, TextCard
from core.feature import Feature, PostRunConfirmation
from core.hooks import ConfirmsCalls, RecordsCalls
from core.tools import Tool, ToolError
from modules.files.editing.text_file import NotText, TextFile
from modules.notes.line_notes import LineNote, is_protecting, located
from modules.notes.note_book import Note
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible
from utils.text.line_diff import LineChange, line_changes
from utils.text.lines import lines_of
from utils.waiting import Stop


class Undo(Protocol):
    """The changes that calls made, and the way back."""

    def changes_of(self, call_id: str) -> Sequence[Change]: ...

    def contents_around(self, call_id: str, path: str) -> tuple[bytes, bytes]:
        """Return what the file *path* held before the call, and what after it; else b""."""

    def undo_call(self, call_id: str) -> bool:
        """Undo the call; return whether all of it could be."""


class Protection(Feature, RecordsCalls, ConfirmsCalls):
    """Keeps tools off what a note says not to touch, and asks about runs that changed it anyway.

    *notes* returns those that protect something, by path. The person's own edits are free.
    """

    def __init__(self, notes: Callable[[], Mapping[str, Note]], undo: Undo) -> None:
        self._notes = notes
        self._undo = undo
        self._notes_before: Mapping[str, Note] = {}  # the call
        self._asked: set[str] = set()

    def refuse_edit(self, path: str, old: str, new: str) -> None:
        """Raise `ToolError` where *new* in the place of *old* changes what is protected."""
        note = self._notes().get(path)
        if note is None or old == new:
            return
        if is_protecting(note.text):
            raise ToolError(_refusal(path, note.text))
        for broken in _broken_lines(note, old, new):
            raise ToolError(_refusal(f"{path}:{broken.place}", broken.text))

    def refuse_move(self, path: str) -> None:
        """Raise `ToolError` where *path*, a file or a folder, holds anything that is protected."""
        for name, note in self._notes().items():
            for place, text in _protected(name, note) if _is_in(name, path) else ():
                raise ToolError(_refusal(place, text))

    def before_call(self, call_id: str, turn: int) -> None:  # noqa: ARG002
        self._notes_before = self._notes()

    def after_call(self, call_id: str, turn: int) -> None:
        """Leave it to `confirm_after`."""

    def confirm_after(
        self,
        tool: Tool,  # noqa: ARG002
        call_id: str,
        stop: Stop,  # noqa: ARG002
    ) -> PostRunConfirmation | None:
        notes, self._notes_before = self._notes_before, {}
        if not notes:
            return None
        changes = self._undo.changes_of(call_id)
        broken = [text for change in changes for text in self._broken(call_id, change, notes)]
        if not broken:
            return None
        self._asked |= {path for path in notes for change in changes if _is_in(path, change.path)}
        return PostRunConfirmation(
            phrase("It changed something that a note protects."),
            TextCard(phrase("Protected by a note"), "\n".join(broken)),
            lambda: self._put_back(call_id),
            kind="protected",
        )

    def take_asked(self) -> Collection[str]:
        """Return the paths of notes that a call broke since the last time, of which it asked."""
        asked, self._asked = self._asked, set()
        return asked

    def _broken(self, call_id: str, change: Change, notes: Mapping[str, Note]) -> Iterator[str]:
        """Yield what *change* did to what *notes* protect, a line each."""
        for path, note in notes.items():
            if change.kind == "created" or not _is_in(path, change.path):
                continue
            broken = list(_protected(path, note))
            if change.kind == "modified" and not is_protecting(note.text):
                old, new = map(_file_of, self._undo.contents_around(call_id, path))
                is_same_form = (old.newline, old.encoding) == (new.newline, new.encoding)
                lines = _broken_lines(note, old.text, new.text) if is_same_form else note.lines
                broken = [
                    (f"{path}:{one.place}", one.text)
                    for one in lines
                    if one.is_protecting and not one.is_stale
                ]
            for place, text in broken:
                yield f"{visible(place)}: {visible(text)}"

    def _put_back(self, call_id: str) -> None:
        if not self._undo.undo_call(call_id):
            raise UserError(
                phrase("Not everything could be restored; /diff shows what is missing.")
            )


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def _protected(path: str, note: Note) -> Iterator[tuple[str, str]]:
    """Yield each place of *path* that *note* protects, with its text."""
    if is_protecting(note.text):
        yield path, note.text
    for one in note.lines:
        if one.is_protecting and not one.is_stale:
            yield f"{path}:{one.place}", one.text


def _broken_lines(note: Note, old: str, new: str) -> Iterator[LineNote]:
    """Yield the protecting notes on lines that are in *old* and not in one piece in *new*.

    As well those that would not be found there any more, or at lines that only look the same:
    the next change would meet no protection.
    """
    before, after = lines_of(old), lines_of(new)
    changes = line_changes(before, after)
    for one in located([one for one in note.lines if one.is_protecting], before):
        start, end = one.start - 1, one.end
        is_whole = changes is not None and all(
            change.end <= start or change.start >= end for change in changes
        )
        if not one.is_stale and not (is_whole and _is_found(one, changes or (), after)):
            yield one


def _is_found(note: LineNote, changes: Sequence[LineChange], after: Sequence[str]) -> bool:
    """Return whether *note* is found in *after* where *changes*, all beside it, left its lines."""
    moved = sum(change.added - change.removed for change in changes if change.end < note.start)
    (found,) = located([note], after)
    return not found.is_stale and found.start == note.start + moved


def _file_of(data: bytes) -> TextFile:
    try:
        return TextFile.decode(data)
    except NotText:
        return TextFile("")


def _refusal(place: str, text: str) -> Phrase:
    return phrase(
        "A note protects {place}: {text}. It was left as it is; only whoever wrote the note can "
        "allow a change.",
        place=visible(place),
        text=visible(text),
    )
