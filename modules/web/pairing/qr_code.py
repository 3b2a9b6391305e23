"""QR codes, for a terminal and for the page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import segno

QUIET_MODULES = 2
"""Modules of light around a code in a terminal; more, and it is higher than many windows."""


def qr_lines(text: str) -> list[str]:
    """Return the code of *text* in lines of "1" for dark and "0" for light, without its margin."""
    return ["".join("1" if dark else "0" for dark in row) for row in _code(text).matrix]


def terminal_text(text: str) -> str:
    """Return the code of *text* for a terminal of any colours, two modules in a character."""
    out = io.StringIO()
    _code(text).terminal(out, compact=True, border=QUIET_MODULES)
    lines = out.getvalue().splitlines()
    return "".join(f"\x1b[97;40m{line}\x1b[0m\n" for line in lines)


def _code(text: str) -> segno.QRCode:
    import segno  # when somebody wants a code

    return segno.make(text, error="l", micro=False, boost_error=False)
