"""Reading a `.env` file: lines NAME=VALUE, with comments, quotes and `export` as in a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*")


def read_dotenv(path: Path) -> dict[str, str]:
    """Return what *path* says. Raises `OSError`, or `ValueError` naming the line that is wrong."""
    return dict(_pairs(path.read_text(encoding="utf-8-sig")))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each line; quotes around the value are taken off."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not (match := _LINE.fullmatch(line)):
            raise ValueError(f"line {number} is not NAME=VALUE")
        name, value = match.groups()
        if value[:1] in ("'", '"') and value[:1] == value[-1:] and len(value) > 1:
            value = value[1:-1]
        yield name, value
