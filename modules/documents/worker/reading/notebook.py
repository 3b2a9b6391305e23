"""Text of a Jupyter notebook: its cells and what they put out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from modules.documents.worker.problems import Problem

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def lines(data: bytes) -> list[str]:
    """Return the text of the notebook *data*. Raises `Problem`."""
    try:
        notebook = json.loads(data)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise Problem("damaged") from None
    found: list[str] = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict):
            raise Problem("damaged")
        found.append(f"--- cell {number}, {cell.get('cell_type', 'code')} ---")
        found += _text(cell.get("source", cell.get("input", ""))).splitlines()
        for output in cell.get("outputs") or ():
            found += _output_lines(output)
    return found


def _output_lines(output: Any) -> Iterator[str]:
    if not isinstance(output, dict):
        raise Problem("damaged")
    data = output.get("data") or {}
    text = _text(output.get("text") or data.get("text/plain") or output.get("traceback") or "")
    pictures = [kind for kind in data if kind.startswith("image/")]
    if text or pictures:
        yield "Output:"
    yield from _ESCAPES.sub("", text).splitlines()
    yield from (f"[picture: {kind}]" for kind in pictures)


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case list():
            return ("" if all(str(one).endswith("\n") for one in value[:-1]) else "\n").join(
                map(str, value)
            )
        case _:
            return ""
