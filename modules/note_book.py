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
from utils.text.tokens import estimate

_TOLD = 200  # characters of a note that the model is told unasked
_TOKENS = 2_000
_KEPT_LOST = 30 * 24 * 3600.0  # seconds


@dataclass(frozen=True, slots=True)
class Note:
    """What is noted on one file; *lost_since* is when the file went (seconds since the epoch)."""

    text: str
    file: Fingerprint
    lost_since: float = 0.0


@dataclass(frozen=True, slots=True)
class Book:
    """All notes by path: on files that are there, and on lost ones in case they come back."""

    notes: dict[str, Note] = field(default_factory=dict)
    lost: dict[str, Note] = field(default_factory=dict)
    seen: float = 0.0


def moved(path: str, change: Change) -> str:
    """Return where *path* is after the rename *change* of it or of a folder above it."""
    if path == change.path or path.startswith(f"{change.path}/"):
        return change.new_path + path[len(change.path) :]
    return path


def renamed(notes: dict[str, Note], renames: Sequence[Change]) -> dict[str, Note]:
    for change in renames:
        notes = {moved(path, change): note for path, note in notes.items()}
    return notes


def listed(notes: dict[str, Note]) -> str:
    """Return *notes* for the model, short; the list of a folder has the rest."""
    lines: list[str] = []
    room = _TOKENS
    for path in sorted(notes):
        text = " ".join(notes[path].text.split())
        line = f"- {visible(path)}: {text if len(text) <= _TOLD else text[: _TOLD - 1] + '…'}"
        room -= estimate(line)
        if room < 0:
            lines.append(f"({len(notes) - len(lines)} more notes: listing a folder shows them.)")
            break
        lines.append(line)
    return "\n".join(["Notes on files:", *lines]) if lines else ""


def parsed(data: bytes) -> Book:
    """Raises `ValueError` for anything but a book of notes."""
    if not data:
        return Book()
    try:
        plain = json.loads(data)
        return Book(_notes(plain["notes"]), _notes(plain["lost"]), float(plain["seen"]))
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("not a book of notes") from error


def _notes(plain: dict[str, Any]) -> dict[str, Note]:
    return {path: from_plain(Note, note) for path, note in plain.items()}


def dumped(book: Book) -> bytes:
    now = time.time()
    lost = {p: note for p, note in book.lost.items() if note.lost_since > now - _KEPT_LOST}
    plain = to_plain(replace(book, lost=lost, seen=now))
    return json.dumps(plain, indent=1).encode()
