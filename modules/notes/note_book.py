"""The notes on files as values: how they are kept, go with a rename and are told to the model."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from core.cards import Change
from modules.files.fingerprints import Fingerprint
from modules.notes.line_notes import LineNote, is_protecting
from utils.frozen import frozen
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.codec import from_plain, to_plain
from utils.text.tokens import estimate_tokens

LINE_NOTES = "line_notes"
"""The `StateRecord` of notes on lines: see `line_notes_state`."""
_LIMIT = 200  # characters of a note that the model is told unasked
_GONE_LIMIT = 60  # characters by which the model knows again what it was told
_MAX_TOKENS = 2_000
_KEEP_LOST_SECONDS = 30 * 24 * 3600.0  # seconds


@frozen
class Note:
    """The notes on one file: *text* on all of it, "" for none, and those on its *lines*, in order.

    *lost_since* is when the file went (seconds since the epoch). Where *text* protects all of a
    file that has changed since, *protected_digest* is that of the content which it protects.
    """

    text: str
    file: Fingerprint
    lost_since: float = 0.0
    lines: tuple[LineNote, ...] = ()
    protected_digest: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.text and not self.lines

    @property
    def is_protecting(self) -> bool:
        """Whether it, or one on lines, says that something is not to be touched."""
        return is_protecting(self.text) or any(note.is_protecting for note in self.lines)

    def told(self) -> Text:
        """Return all that is noted on the file, for a list of files, "" for nothing."""
        told: Text = self.text
        for line in map(told_line_note, self.lines):
            told = phrase("{one}; {other}", one=told, other=line) if told else line
        return told


@frozen
class NoteBook:
    """All notes by path: on files that are there, and on lost ones in case they come back."""

    notes: dict[str, Note] = field(default_factory=dict)
    lost: dict[str, Note] = field(default_factory=dict)
    seen: float = 0.0


@frozen
class BrokenProtection:
    """What a note says not to touch and is touched: *lines* (their anchor) of *path*.

    Without *lines* the whole file, which has changed or *is_gone*.
    """

    path: str
    lines: tuple[int, ...]
    text: str = field(compare=False)
    place: str = field(compare=False, default="")
    is_gone: bool = False

    @property
    def phrase(self) -> Phrase:
        path, text = visible(self.path), visible(self.text)
        if not self.place and not self.is_gone:
            return phrase(
                "{path} has changed although a note protects it: {text}", path=path, text=text
            )
        if not self.place:
            return phrase(
                "{path} was deleted although a note protects it: {text}", path=path, text=text
            )
        return phrase(
            "Protected lines have changed: {path}:{lines}: {text}",
            path=path,
            lines=self.place,
            text=text,
        )


def broken_protections(book: NoteBook) -> list[BrokenProtection]:
    """Return what of that *book* says not to touch is gone or stale, or has changed."""
    gone = [
        BrokenProtection(path, (), text, is_gone=True)
        for path, note in book.lost.items()
        for text in (note.text, *(line_note.text for line_note in note.lines))
        if is_protecting(text)
    ]
    changed = [
        BrokenProtection(path, note.lines, note.text, note.place)
        for path, file in book.notes.items()
        for note in file.lines
        if note.is_stale and note.is_protecting
    ]
    whole = [
        BrokenProtection(path, (), note.text)
        for path, note in book.notes.items()
        if note.protected_digest and is_protecting(note.text)
    ]
    return [*gone, *changed, *whole]


def line_notes_state(notes: Mapping[str, Note]) -> dict[str, list[list[Any]]]:
    """Return the notes on lines by path, each as its first line, its last line and its text."""
    return {
        path: [[one.start, one.end, one.text] for one in note.lines]
        for path, note in notes.items()
        if note.lines
    }


def told_line_note(note: LineNote) -> Phrase:
    """Return *note* in one line, with its place."""
    text: Text = note.text
    if note.is_stale:
        text = phrase("{text} (its lines have changed since)", text=text)
    if note.start == note.end:
        return phrase("line {place}: {text}", place=note.place, text=text)
    return phrase("lines {place}: {text}", place=note.place, text=text)


def path_after_rename(path: str, change: Change) -> str:
    """Return where *path* is after the rename *change* of it or of a folder above it."""
    if path == change.path or path.startswith(f"{change.path}/"):
        return change.new_path + path[len(change.path) :]
    return path


def notes_after_renames(notes: dict[str, Note], renames: Sequence[Change]) -> dict[str, Note]:
    for change in renames:
        notes = {path_after_rename(path, change): note for path, note in notes.items()}
    return notes


def notes_for_model(notes: dict[str, Note]) -> str:
    """Return *notes* for the model, short; the list of a folder has the rest."""
    lines: list[str] = []
    tokens_left = _MAX_TOKENS
    all_lines = [line for path in sorted(notes) for line in _lines_for_model(path, notes[path])]
    for line in all_lines:
        tokens_left -= estimate_tokens(line)
        if tokens_left < 0:
            lines.append(
                f"({len(all_lines) - len(lines)} more notes: listing a folder shows them.)"
            )
            break
        lines.append(line)
    return "\n".join(["Notes on files:", *lines]) if lines else ""


def _lines_for_model(path: str, note: Note) -> list[str]:
    """Return a line for each note on the file *path*."""
    told = [note.text] if note.text else []
    told += (str(told_line_note(one)) for one in note.lines)
    texts = (" ".join(text.split()) for text in told)
    return [
        f"- {visible(path)}: {text if len(text) <= _LIMIT else text[: _LIMIT - 1] + '…'}"
        for text in texts
    ]


def notes_change_for_model(told: str, text: str) -> str:
    """Return what became of the notes that were *told* as in `notes_for_model`, if that is short.

    Lines that move with every edit above them would else tell all of it again each time.
    """
    before, now = told.split("\n"), text.split("\n")
    gone = [f"- no longer: {line[2:_GONE_LIMIT]}" for line in before if line not in now]
    change = "\n".join(
        ["Notes on files, what changed:", *gone, *(x for x in now if x not in before)]
    )
    return min(change, text, key=len)


def parse_note_book(data: bytes) -> NoteBook:
    """Raises `ValueError` for anything but a book of notes."""
    if not data:
        return NoteBook()
    try:
        decoded = json.loads(data)
        return NoteBook(
            _parse_notes(decoded["notes"]), _parse_notes(decoded["lost"]), float(decoded["seen"])
        )
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("not a book of notes") from error


def _parse_notes(plain: dict[str, Any]) -> dict[str, Note]:
    return {path: from_plain(Note, note) for path, note in plain.items()}


def dump_note_book(book: NoteBook) -> bytes:
    now = time.time()
    lost = {p: note for p, note in book.lost.items() if note.lost_since > now - _KEEP_LOST_SECONDS}
    encodable = to_plain(replace(book, lost=lost, seen=now))
    return json.dumps(encodable, indent=1).encode()
