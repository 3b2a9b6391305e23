"""Makers of documents, by kind; all that they need is loaded before the process is confined."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from modules.documents.outline import Block, Outline, Span
from modules.documents.worker.archives import as_plain
from modules.documents.worker.problems import Problem
from utils.text.codec import from_plain

_FONT_TABLES = (
    *(f"fontTools.ttLib.tables.{name}" for name in ("C_F_F_", "C_F_F__2", "V_O_R_G_", "_v_h_e_a")),
    *("fontTools.ttLib.tables._v_m_t_x", "fontTools.cffLib", "fontTools.subset.cff"),
)
"""What fonts of other kinds than the first may need."""
Maker = Callable[[Outline, Sequence[bytes], bytes | None], bytes]
_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5E"
    "rkJggg=="
)
_SAMPLE = Outline(
    "Sample",
    (
        Block("heading", (Span("Sample"),), level=1),
        Block("text", (Span("a "), Span("b", bold=True), Span("", note=1)), level=0),
        Block("heading", (Span("More"),), level=2),
        Block("item", (Span("c", link="https://example.org"),)),
        Block("item", (Span("d"),), number=1),
        Block("code", (Span("e", code=True),)),
        Block("quote", (Span("f", italic=True),)),
        Block("speaker", (Span("g"),)),
        Block("table", rows=(((Span("h"),), (Span("i"),)), ((Span("1"),), (Span("2026-01-01"),)))),
        Block("picture", (Span("j"),)),
        Block("break"),
        Block("text", (Span("k"),)),
    ),
    ((Span("note"),),),
)
"""An outline of every kind of block: who has made it has imported all that is wanted."""


def prepare_maker(kind: str, text: str, *, has_code: bool = False) -> Maker:
    """Return what makes a document of *kind* of an outline with *text*, code among it or not.

    It needs no file and no import any more. Raises `Problem` where no font has a character.
    """
    if kind == "pdf":
        return _pdf_maker(text, has_code=has_code)
    maker = _maker(kind)
    maker(_SAMPLE, (_PIXEL,), None)
    return maker


def make(kind: str, maker: Maker, values: Mapping[str, Any], files: Sequence[bytes]) -> bytes:
    """Return the document of the outline in *values*; the first of *files* may be a template.

    Raises `Problem`.
    """
    outline = from_plain(Outline, values["outline"])
    if not values["has_template"]:
        return maker(outline, files, None)
    try:
        template = as_plain(kind, files[0])
    except Problem:
        raise Problem("template") from None
    return maker(outline, files[1:], template)


def _maker(kind: str) -> Maker:
    match kind:
        case "docx":
            from modules.documents.worker.making.word import default_template, make_word

            return partial(make_word, default=default_template())
        case "pptx":
            from modules.documents.worker.making.slides import (
                default_template,
                keep_templates,
                make_slides,
            )

            keep_templates()
            return partial(make_slides, default=default_template())
        case _:
            from modules.documents.worker.making.sheets import make_sheets

            return make_sheets


def _pdf_maker(text: str, *, has_code: bool) -> Maker:
    """Return what makes one PDF: its fonts are open already."""
    from modules.documents.worker.making.fonts import choose_code_font, choose_fonts
    from modules.documents.worker.making.pdf import PdfWriter

    fonts = choose_fonts(text)
    for name in _FONT_TABLES:
        import_module(name)
    code_font = choose_code_font() if has_code else None
    PdfWriter(fonts[:1], code_font).write(_SAMPLE, (_PIXEL,))
    writer = PdfWriter(fonts, code_font)
    return lambda outline, pictures, _: writer.write(outline, pictures)
