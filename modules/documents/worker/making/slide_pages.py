"""Which blocks of an outline go on which slide, in letters of which size: never below 12 points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from modules.documents.outline import Block, Outline, Rows, Span, Spans, plain_text
from modules.documents.worker.making.table_columns import (
    CELL_MARGINS,
    WIDER,
    column_groups,
    column_widths,
    even_rows,
)
from modules.documents.worker.slide_fit import TextLine, line_count, text_height

MIN_POINTS = 12.0
_SIZES = (24.0, 22.0, 20.0, 18.0)
"""Points that are tried before text is split over more slides, which then has the last of them."""
_TABLE_SIZES = (16.0, 14.0, 12.0)
_NOTE_POINTS = 12.0
_COVER_POINTS = 20.0
_COVER_SHARE = 0.4
"""Of a slide that there is for text below the title of a cover."""
_SPACE = 6.0
"""Points above a paragraph."""
_MAX_NOTES_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class SlidePage:
    """What one slide shows: text, or a table, or a picture; *notes* are numbers of footnotes."""

    title: str
    blocks: tuple[Block, ...] = ()
    points: float = _SIZES[0]
    table: tuple[tuple[Spans, ...], ...] = ()
    column_widths: tuple[float, ...] = ()
    picture: Block | None = None
    notes: tuple[int, ...] = ()
    notes_height: float = 0.0
    speaker: str = ""
    cover: bool = False


@dataclass
class _Section:
    title: str
    blocks: list[Block] = field(default_factory=list)
    speaker: list[str] = field(default_factory=list)
    is_cover: bool = False


def paged(outline: Outline, width: float, height: float, title_width: float) -> Iterator[SlidePage]:
    """Yield the slides of *outline*, whose text may be *width* by *height* points large."""
    pager = _Pager(outline, width, height)
    for section in _sections(outline.blocks, title_width):
        yield from pager.pages(section)


def _sections(blocks: Sequence[Block], title_width: float) -> Iterator[_Section]:
    """Yield the parts of an outline that begin a slide of their own."""
    current: _Section | None = None
    has_cover = _has_cover(blocks)
    for number, block in enumerate(blocks):
        if block.kind == "heading" and block.level <= 2:
            if current and (current.title or current.blocks or current.speaker):
                yield current
            current = _titled(block, title_width)
            current.is_cover = has_cover and number == 0
        elif block.kind == "break":
            if current and (current.blocks or current.speaker):
                yield current
                current = _Section("" if _is_followed_by_heading(blocks, number) else current.title)
        else:
            current = current or _Section("")
            if block.kind == "speaker":
                current.speaker.append(block.text)
            else:
                current.blocks.append(block)
    if current and (current.title or current.blocks):
        yield current


def _has_cover(blocks: Sequence[Block]) -> bool:
    """Return whether the first heading is that of the whole: others follow, with little between."""
    if not blocks or blocks[0].kind != "heading" or blocks[0].level != 1:
        return False
    rest = blocks[1:]
    end = next((n for n, one in enumerate(rest) if one.kind in ("heading", "break")), len(rest))
    between = [one for one in rest[:end] if one.kind != "speaker"]
    has_more = end < len(rest)
    return has_more and len(between) <= 3 and all(one.kind == "text" for one in between)


def _is_followed_by_heading(blocks: Sequence[Block], number: int) -> bool:
    return number + 1 < len(blocks) and blocks[number + 1].kind == "heading"


def _titled(block: Block, title_width: float) -> _Section:
    """Return a section of the heading *block*; one too long for a title stands in the text too."""
    title = " ".join(block.text.split())
    if line_count(title, 20, title_width) <= 2:
        return _Section(title)
    short = title
    while line_count(f"{short}…", 20, title_width) > 2:
        short = short[:-1]
    return _Section(f"{short}…", [Block("heading", block.spans, level=3)])


class _Pager:
    def __init__(self, outline: Outline, width: float, height: float) -> None:
        self._outline = outline
        self._table_width = width
        self._width = width / WIDER
        self._height = height

    def pages(self, section: _Section) -> Iterator[SlidePage]:
        """Yield the slides of *section*, what the speaker says with the first of them."""
        speaker = "\n".join(section.speaker)
        for page in self._silent_pages(section):
            yield replace(page, speaker=speaker)
            speaker = ""

    def _silent_pages(self, section: _Section) -> Iterator[SlidePage]:
        if section.is_cover:
            notes = _notes_in(section.blocks)
            height = self._notes_height(notes)
            blocks = tuple(section.blocks)
            lines = _text_lines(blocks, _COVER_POINTS)
            is_short = text_height(lines, self._width) + height <= self._height * _COVER_SHARE
            if blocks and not is_short:
                yield SlidePage(section.title, cover=True)
                yield from self._text_pages(section.title, blocks)
                return
            yield SlidePage(
                *(section.title, blocks, _COVER_POINTS),
                notes=notes,
                notes_height=height,
                cover=True,
            )
            return
        text: list[Block] = []
        is_any = False
        for block in section.blocks:
            if block.kind not in ("table", "picture"):
                text.append(block)
                continue
            if text:
                yield from self._text_pages(section.title, text)
                text = []
            is_any = True
            if block.kind == "picture":
                yield SlidePage(section.title, picture=block)
            else:
                rows = even_rows(block.rows)
                for part in column_groups(rows, _TABLE_SIZES[-1], self._table_width):
                    yield from self._table_pages(section.title, part)
        if text or not is_any:
            yield from self._text_pages(section.title, text)

    def _text_pages(self, title: str, blocks: Sequence[Block]) -> Iterator[SlidePage]:
        for points in _SIZES:
            if self._needed(blocks, points) <= self._height:
                yield self._text_page(title, blocks, points)
                return
        points = _SIZES[-1]
        page: list[Block] = []
        for piece in self._pieces(blocks, points):
            if page and self._needed([*page, piece], points) > self._height:
                yield self._text_page(title, page, points)
                page = []
            page.append(piece)
        if page:
            yield self._text_page(title, page, points)

    def _text_page(self, title: str, blocks: Sequence[Block], points: float) -> SlidePage:
        notes = _notes_in(blocks)
        height = self._notes_height(notes)
        return SlidePage(title, tuple(blocks), points, notes=notes, notes_height=height)

    def _pieces(self, blocks: Sequence[Block], points: float) -> Iterator[Block]:
        """Yield *blocks*, those that are too high for a slide in parts of which each fits."""
        for block in blocks:
            while self._needed([block], points) > self._height:
                head, rest = self._split(block, points)
                if rest is None:
                    break
                yield head
                block = rest
            yield block

    def _split(self, block: Block, points: float) -> tuple[Block, Block | None]:
        """Return the part of *block* that fits on a slide, and the rest; None where none is left.

        It is split behind a sentence where there is one, else behind a word.
        """
        text = block.text
        low, high = 1, len(text)
        while low < high:  # the most letters that fit
            middle = (low + high + 1) // 2
            part = replace(block, spans=_cut(block.spans, 0, middle))
            is_fitting = self._needed([part], points) <= self._height
            low, high = (middle, high) if is_fitting else (low, middle - 1)
        cut = _good_end(text, low, is_code=block.kind == "code")
        if cut >= len(text):
            return block, None
        head = replace(block, spans=_cut(block.spans, 0, cut))
        if block.kind != "code":  # whose lines are indented
            cut += len(text[cut:]) - len(text[cut:].lstrip(" "))
        return head, replace(block, spans=_cut(block.spans, cut, len(text)), number=0)

    def _needed(self, blocks: Sequence[Block], points: float) -> float:
        """Return how many points high *blocks* are with their footnotes."""
        notes = self._notes_height(_notes_in(blocks))
        if notes > self._height * _MAX_NOTES_SHARE:
            notes += self._height * (len(blocks) > 1)
        return text_height(_text_lines(blocks, points), self._width) + notes

    def _notes_height(self, notes: Sequence[int]) -> float:
        lines = [
            TextLine(f"{note}. {plain_text(self._outline.notes[note - 1])}", _NOTE_POINTS)
            for note in notes
        ]
        return text_height(lines, self._width) + 10 if lines else 0.0

    def _table_pages(self, title: str, rows: Rows) -> Iterator[SlidePage]:
        for points in _TABLE_SIZES:
            widths = column_widths(rows, points, self._table_width)
            heights = [_row_height(row, widths, points) for row in rows]
            if sum(heights) <= self._height:
                break
        notes_room = self._notes_height(_notes_of_rows(rows))
        room = self._height - notes_room
        if heights[0] + max(heights[1:], default=0) > room:
            yield from self._text_pages(title, [*_as_items(rows)])
            return
        page, used = [rows[0]], heights[0]
        for row, height in zip(rows[1:], heights[1:], strict=True):
            if used + height > room:
                yield self._table_page(title, page, widths, points)
                page, used = [rows[0]], heights[0]
            page.append(row)
            used += height
        yield self._table_page(title, page, widths, points)

    def _table_page(
        self,
        title: str,
        rows: Rows,
        widths: tuple[float, ...],
        points: float,
    ) -> SlidePage:
        notes = _notes_of_rows(rows)
        return SlidePage(
            title,
            points=points,
            table=tuple(rows),
            column_widths=widths,
            notes=notes,
            notes_height=self._notes_height(notes),
        )


def _text_lines(blocks: Sequence[Block], points: float) -> Iterator[TextLine]:
    for block in blocks:
        marks = sum(1 for span in block.spans if span.note)
        text = block.text + "1" * marks
        if block.kind == "code":
            size = max(MIN_POINTS, points - 4)
            for line in text.split("\n"):
                yield TextLine(line, size * 1.1, 0, _SPACE)
        elif block.kind == "item":
            size = max(MIN_POINTS, points - 2 * min(block.level, 2))
            yield TextLine(text, size, 45 + 36 * min(block.level, 4), _SPACE)
        else:
            indent = 36 * min(block.level, 5) if block.kind == "text" else 36
            yield TextLine(text, points * (1.06 if block.kind == "heading" else 1), indent, _SPACE)


def _notes_in(blocks: Sequence[Block]) -> tuple[int, ...]:
    found = (span.note for block in blocks for span in block.spans if span.note)
    return tuple(dict.fromkeys(found))


def _notes_of_rows(rows: Rows) -> tuple[int, ...]:
    found = (span.note for row in rows for spans in row for span in spans if span.note)
    return tuple(dict.fromkeys(found))


def _cut(spans: Spans, start: int, end: int) -> Spans:
    """Return the letters *start* to *end* of *spans*, with the marks of the notes among them."""
    found: list[Span] = []
    position = 0
    for span in spans:
        if span.note:
            if start < position <= end or (start == position == 0):
                found.append(span)
            continue
        text = span.text[max(0, start - position) : max(0, end - position)]
        position += len(span.text)
        if text:
            found.append(replace(span, text=text))
    return tuple(found)


def _good_end(text: str, most: int, *, is_code: bool) -> int:
    """Return where to split *text* before its letter *most*: behind a sentence, a word, a line."""
    ends = "\n" if is_code else ".!?。！？；;\n"
    for letters in (ends, " ，,、"):
        place = max(text.rfind(letter, 0, most) for letter in letters)
        if place > most // 2:
            return place + 1
    return max(1, most)


def _row_height(row: tuple[Spans, ...], widths: Sequence[float], points: float) -> float:
    lines = max(
        line_count(plain_text(cell), points, (room - 2 * CELL_MARGINS[0]) / WIDER)
        for cell, room in zip(row, widths, strict=True)
    )
    return lines * points * 1.25 + CELL_MARGINS[1]


def _as_items(rows: Rows) -> Iterator[Block]:
    """Yield what *rows* say as a list, for a table that no slide can hold."""
    for row in rows[1:]:
        yield Block("item", (Span(plain_text(row[0]), bold=True),))
        for head, cell in zip(rows[0][1:], row[1:], strict=True):
            if plain_text(cell):
                yield Block("item", (Span(f"{plain_text(head)}: "), *cell), level=1)
