"""A font for the characters of a PDF whose own font it only names, as some for Chinese do.

PDFium leaves out of a page's text what has no shape, and the process that reads a PDF can open no
font of the machine. So those characters are boxes there: the text has them all. Where a page is
drawn they have the shapes of a font that was read before.
"""

from __future__ import annotations

import ctypes
import zlib
from base64 import b64decode
from functools import cache
from typing import Any

import pypdfium2.raw as pdfium

_LATIN = frozenset({0, 1, 2, 255})
"""FX_Charset of pdfium's fx_codepage.h, of which PDFium has fonts itself: ANSI, default, symbols,
OEM."""
_BOX_FONT = zlib.decompress(
    b64decode(
        b"eNqVUb1Kw2AUPcmNrRZr7aJQHFpw6CAUgnYSlHZzUaIgdNHPNrZDYkJ/IG4ODo4+gKOjc3H0CVz7Ag4+"
        b"gBUEIZ60qYpCxQM3nHO/my/n3EADkMIFBPnd/ZK5/VpdA7Qiu8d1V/ko4ID6mrrYdM5Ph/awTv1Avd6y"
        b"VeMkrD6S37HKLTaSNbklf2KtttxuYORgcv6KOuF4dYUc0tT3kXZV4MNAgnqWOn+mXLuS2RhQv1DXfK/T"
        b"pS9C34vOEXllDQ5Lb0eZzSFEnvETZngjfbHIBHrc4zvih/TAeROm9Ec3fYc26uh0Mz7Rf93Lb3ELM5z4"
        b"J7aIP0byE2exF+EfAeajTRErXyk4uRiGMU9zlxGbJOamlrOFrCmXDem/70w5AVOU46QaM+EzdZJKoBlz"
        b"7KToYMx1LGCp4gV2x7KbPUe1UYGHADY6sPhsogcHCu3R1qfiA2a+S40="
    )
)
"""A font made for this: one glyph, a box, for all characters from U+0020 (a cmap of format 13)."""
_FONT = 1
"""What stands for the font between PDFium and us."""


class _Substitute:
    """The font that PDFium gets for each that a PDF does not have: a box for every character, until
    it is told of a better one.
    """

    def __init__(self) -> None:
        self.data = _BOX_FONT

    def give(self, table: int, buffer: Any, size: int) -> int:
        """Return the size of the font, which is put into *buffer* where it has room for it."""
        if table:  # a single table is asked for only to know collections of fonts
            return 0
        if buffer and size >= len(self.data):
            ctypes.memmove(buffer, self.data, len(self.data))
        return len(self.data)


_substitute = _Substitute()


def draw_with(font: bytes) -> None:
    """Have characters without a font drawn with the one whose file is *font*, not as boxes."""
    _substitute.data = font


@cache
def install_box_font() -> list[Any]:
    """Have PDFium ask us, for the life of the process, for each font that a PDF does not have.

    The answer is what PDFium refers to.
    """
    info = pdfium.FPDF_SYSFONTINFO(version=1)
    callbacks = {
        "Release": lambda _: None,
        "EnumFonts": lambda *_: None,
        "MapFont": lambda _this, _weight, _italic, charset, *_: 0 if charset in _LATIN else _FONT,
        "GetFont": lambda *_: 0,
        "GetFontData": lambda _this, _font, *asked: _substitute.give(*asked),
        "GetFaceName": lambda *_: 0,
        "GetFontCharset": lambda *_: 1,
        "DeleteFont": lambda *_: None,
    }
    kept: list[Any] = [info]
    for name, kind in pdfium.FPDF_SYSFONTINFO._fields_:
        if name in callbacks:
            kept.append(kind(callbacks[name]))
            setattr(info, name, kept[-1])
    pdfium.FPDF_SetSystemFontInfo(ctypes.byref(info))
    return kept
