"""Pages of a PDF that is made: their numbers, and the footnotes of what is on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fpdf import FPDF

from modules.documents.outline import Outline, is_right_to_left, note_text
from modules.documents.worker.problems import Problem

MARGIN = 22.0
"""Millimetres."""
LINE_HEIGHT = 1.45
"""Of the size of the letters."""
MM_PER_POINT = 25.4 / 72
FIRST_FONT = "f0"
_NOTE = 9.0  # points
_NOTE_LINE = _NOTE * LINE_HEIGHT * MM_PER_POINT
_MAX_NOTES_SHARE = 0.5
"""Of a page: footnotes that are higher go on at the foot of the next."""


class Pages(FPDF):  # type: ignore[misc]  # fpdf2 is skipped by the type checker
    """Pages with a number and the footnotes of what is on them."""

    outline = Outline("", ())

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._notes: list[int] = []
        self._notes_share = _MAX_NOTES_SHARE
        self._late_lines: list[tuple[str, bool]] = []  # of notes, left over from the page before
        self.set_auto_page_break(True, MARGIN)

    def make_room(self, height: float, notes: Sequence[int]) -> None:
        """Begin a page unless *height* mm fit on this one above its footnotes and *notes*.

        What is higher than a page begins where it is and is broken.
        """
        new = [note for note in dict.fromkeys(notes) if note not in self._notes]
        room = self.h - MARGIN - self._notes_height([*self._notes, *new])
        fits_on_a_page = height < self.h - 2 * MARGIN - self._notes_height(new)
        if self.get_y() + height > room and not self.is_at_top() and fits_on_a_page:
            self.add_page()
        self._notes += new
        self.set_auto_page_break(True, MARGIN + self._notes_height(self._notes))

    def room_of_a_page(self) -> float:
        """Return how many millimetres there are on each page above its footnotes."""
        return float(self.h - 2 * MARGIN - self._notes_height(self._notes))

    def line_count(self, width: float, height: float, text: str) -> int:
        """Return in how many lines *text* is set. No page begins, which would take the notes."""
        return len(self.lines(width, height, text))

    def lines(self, width: float, height: float, text: str) -> list[str]:
        """Return the lines that *text* is set in, *width* millimetres wide; no page begins."""
        is_broken, margin = self.auto_page_break, self.b_margin
        self.set_auto_page_break(False, margin)
        lines: list[str] = self.multi_cell(
            width, height, text, dry_run=True, output="LINES", new_x="LMARGIN", new_y="NEXT"
        )
        self.set_auto_page_break(is_broken, margin)
        return lines

    def is_at_top(self) -> bool:
        """Return whether nothing stands on this page yet."""
        return bool(self.get_y() <= self.t_margin + 1)

    def footer(self) -> None:
        """Write the footnotes of the page that ends, and its number."""
        self.set_auto_page_break(False)
        self.set_font(FIRST_FONT, size=_NOTE)
        lines = self._note_lines(self._notes)
        most = self._most_note_lines()
        self._notes, self._late_lines = [], lines[most:]
        if lines:
            self.set_y(self.h - MARGIN - self._height_of(lines[:most]) + 2)
            self.line(self.l_margin, self.get_y(), self.l_margin + 50, self.get_y())
            self.ln(1.5)
        for text, is_rtl in lines[:most]:
            align = "R" if is_rtl else "L"
            self.multi_cell(0, _NOTE_LINE, text, new_x="LMARGIN", new_y="NEXT", align=align)
        self.set_y(-14)
        self.cell(0, 6, str(self.page_no()), align="C")
        self.set_auto_page_break(True, MARGIN + self._height_of(self._late_lines))

    def write_last_notes(self) -> None:
        """Begin pages until no footnote is left over when the last of them ends."""
        most = self._most_note_lines()
        if len(self._note_lines(self._notes)) <= most:
            return
        self.add_page()
        self._notes_share = 0.98  # of a page on which there is nothing else
        while len(self._late_lines) > self._most_note_lines():
            self.add_page()

    def _most_note_lines(self) -> int:
        return int((self.h - 2 * MARGIN) * self._notes_share / _NOTE_LINE)

    def _notes_height(self, notes: Sequence[int]) -> float:
        return self._height_of(self._note_lines(notes))

    def _height_of(self, lines: Sequence[tuple[str, bool]]) -> float:
        return min(len(lines), self._most_note_lines()) * _NOTE_LINE + 5.0 if lines else 0.0

    def _note_lines(self, notes: Sequence[int]) -> list[tuple[str, bool]]:
        """Return the lines of late footnotes and of *notes*, and which are from the right."""
        found = [*self._late_lines]
        family, style, size = self.font_family, self.font_style, self.font_size_pt
        self.set_font(FIRST_FONT, size=_NOTE)
        for note in notes:
            text = self._note_text(note)
            is_rtl = is_right_to_left(text)
            lines = self.lines(0, _NOTE_LINE, f"{note}. {text}")
            found += [(line, is_rtl) for line in lines]
        self.set_font(family, style, size)
        return found

    def _note_text(self, note: int) -> str:
        if not 1 <= note <= len(self.outline.notes):
            raise Problem("damaged")
        return note_text(self.outline.notes[note - 1])
