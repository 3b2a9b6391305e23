"""Stylesheets with what they import inside: one to fetch, where the checkout has one an area."""

from __future__ import annotations

import re
from pathlib import Path

_IMPORT = re.compile(r'^@import "([\w./-]+)";\n', re.M)


def stylesheet(path: Path) -> str:
    """Return the text of *path*, each `@import` of a file beside it replaced by that file."""
    text = path.read_text(encoding="utf-8")
    return _IMPORT.sub(lambda found: stylesheet(path.parent / found[1]), text)
