"""Notes as cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from core.cards import Card, TableCard, TextCard
from modules.notes.note_book import Note
from utils.i18n import Text, phrase
from utils.text.clean import visible


def notes_card(notes: Mapping[str, Note]) -> Card:
    """Return *notes* by path, each on lines with its place."""
    if not notes:
        return TextCard(phrase("Notes"), phrase("No notes yet. Add one with /note PATH TEXT."))
    return TableCard(phrase("Notes"), tuple(_rows(notes)))


def line_notes_card(path: str, start: int, end: int, notes: Mapping[str, Note]) -> Card:
    """Return what is noted on the lines *start* to *end* of *path*, or on some of them."""
    if file := notes.get(path):
        lines = tuple(one for one in file.lines if one.start <= end and one.end >= start)
        if lines:
            return notes_card({path: replace(file, text="", lines=lines)})
    where = f"{visible(path)}:{start}" + ("" if start == end else f"-{end}")
    return TextCard(
        phrase("Note on {path}", path=where),
        phrase("No note on these lines yet. Add one with /note PATH:3-5 TEXT."),
    )


def _rows(notes: Mapping[str, Note]) -> Iterator[tuple[Text, ...]]:
    for path in sorted(notes):
        if notes[path].text:
            yield visible(path), notes[path].text
        for note in notes[path].lines:
            text: Text = note.text
            if note.is_stale:
                text = phrase("{text} (outdated: its lines have changed)", text=text)
            yield f"{visible(path)}:{note.place}", text
