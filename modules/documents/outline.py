"""What a document is made of, whatever its kind: headings, texts, lists, tables and pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

BlockKind = Literal[
    "heading", "text", "item", "table", "code", "quote", "picture", "break", "speaker"
]
"""A *speaker* block is what only slides have: notes for who speaks, and comments."""
_NUMBER = re.compile(r"[-+−]?\d[\d.,\u00a0\u202f]*\s?[%‰]?")
_FOLLOWED = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one look; one with a *note* is the mark of that footnote, counted from 1."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    struck: bool = False
    link: str = ""
    note: int = 0

    @property
    def address(self) -> str:
        """The *link* where a document may lead there: on the web, or to write a mail; else ""."""
        return self.link if self.link.startswith(_FOLLOWED) else ""


Spans = tuple[Span, ...]
Rows = Sequence[tuple[Spans, ...]]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document.

    *level* is that of a heading, from 1, or of an item in lists, from 0; of all else it says in how
    many lists it stands. *number* is that of an item in a numbered list, 0 in others. The first of
    the *rows* of a table is its head. *file* is the index of the picture among the files given.
    """

    kind: BlockKind
    spans: Spans = ()
    level: int = 0
    number: int = 0
    rows: tuple[tuple[Spans, ...], ...] = ()
    file: int = 0

    @property
    def text(self) -> str:
        return plain_text(self.spans)


@dataclass(frozen=True, slots=True)
class Outline:
    """A document: its *blocks* in order, and its footnotes."""

    title: str
    blocks: tuple[Block, ...]
    notes: tuple[Spans, ...] = ()


def plain_text(spans: Spans) -> str:
    """Return the text of *spans* without the marks of footnotes."""
    return "".join(span.text for span in spans if not span.note)


def marked_text(spans: Spans) -> str:
    """Return the text of *spans* where nothing is raised or struck: `[1]`, `~~struck~~`."""
    texts = (f"~~{span.text}~~" if span.struck else span.text for span in spans)
    return "".join(
        f"[{span.note}]" if span.note else text for span, text in zip(spans, texts, strict=True)
    )


def note_text(spans: Spans) -> str:
    """Return the text of a footnote, with the addresses that it links to but does not name."""
    text = plain_text(spans)
    links = (span.link for span in spans if span.link and span.link not in text)
    return " ".join([text, *dict.fromkeys(links)])


def in_bold(spans: Spans) -> Spans:
    return tuple(replace(span, bold=True) for span in spans)


def without_speaker(outline: Outline) -> Outline:
    """Return *outline* without what only slides have."""
    blocks = tuple(block for block in outline.blocks if block.kind != "speaker")
    return replace(outline, blocks=blocks)


def has_speaker(outline: Outline) -> bool:
    """Return whether *outline* has what only slides have."""
    return any(block.kind == "speaker" for block in outline.blocks)


def has_code(outline: Outline) -> bool:
    """Return whether there is code in *outline*, in a block of its own or in a line."""
    return any(span.code for block in outline.blocks for span in block.spans)


def numeric_columns(rows: Rows) -> frozenset[int]:
    """Return which columns of the table *rows* have nothing but numbers below their head."""
    found = set()
    for column in range(max(map(len, rows), default=0)):
        texts = [plain_text(row[column]).strip() for row in rows[1:] if column < len(row)]
        given = [text for text in texts if text not in ("", "-", "–", "—")]
        if given and all(_NUMBER.fullmatch(text) for text in given):
            found.add(column)
    return frozenset(found)


def is_right_to_left_table(rows: Rows) -> bool:
    """Return whether the columns of the table *rows* follow one another from the right."""
    return is_right_to_left("".join(map(plain_text, rows[0])))


def is_right_to_left(text: str) -> bool:
    """Return whether the first letter of *text* that has a direction is Arabic, Hebrew or alike."""
    from unicodedata import bidirectional

    kinds = (bidirectional(letter) for letter in text)
    return next((kind in ("R", "AL") for kind in kinds if kind in ("L", "R", "AL")), False)
