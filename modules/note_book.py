"""The notes on files as values: how they are kept, go with a rename and are told to the model."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.cards import Change
from modules.files.fingerprints import Fingerprint
from utils.text.clean import visible
from utils.text.codec import from_plain, to_plain
from utils.text.tokens import estimate_tokens

_LIMIT = 200  # characters of a note that the model is told unasked
_MAX_TOKENS = 2_000
_KEEP_LOST_SECONDS = 30 * 24 * 3600.0  # seconds


@dataclass(frozen=True, slots=True)
class Note:
    """A note on one file; *lost_since* is when the file went (seconds since the epoch)."""

    text: str
    file: Fingerprint
    lost_since: float = 0.0


@dataclass(frozen=True, slots=True)
class NoteBook:
    """All notes by path: on files that are there, and on lost ones in case they come back."""

    notes: dict[str, Note] = field(default_factory=dict)
    lost: dict[str, Note] = field(default_factory=dict)
    seen: float = 0.0


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
    for path in sorted(notes):
        text = " ".join(notes[path].text.split())
        line = f"- {visible(path)}: {text if len(text) <= _LIMIT else text[: _LIMIT - 1] + '…'}"
        tokens_left -= estimate_tokens(line)
        if tokens_left < 0:
            lines.append(f"({len(notes) - len(lines)} more notes: listing a folder shows them.)")
            break
        lines.append(line)
    return "\n".join(["Notes on files:", *lines]) if lines else ""


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
