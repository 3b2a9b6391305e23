"""The route about the symbols of the project: functions, classes and headings, by name."""

from __future__ import annotations

from typing import Annotated, Any

from modules.symbols.symbol_index import SymbolIndex
from modules.web.http.params import Bounds
from modules.web.http.routes import route
from utils.text.clean import visible

_MAX_QUERY = 1_000  # characters
_MAX_SYMBOLS = 200


class SymbolsApi:
    """Answers what *index* finds."""

    def __init__(self, index: SymbolIndex) -> None:
        self._index = index

    @route(
        "GET",
        "/api/symbols",
        "Find functions, classes and headings by their names.",
        answer={
            "symbols": "Each with its name, kind, path and line; the best first.",
            "unread": "How many files there was no time to read so far.",
        },
    )
    def symbols(
        self,
        query: Annotated[str, "Words; the first is in the name.", Bounds(0, _MAX_QUERY)] = "",
        limit: Annotated[int, "How many at most.", Bounds(1, _MAX_SYMBOLS)] = 12,
    ) -> dict[str, Any]:
        found = self._index.find_symbols(query, limit)
        symbols = [
            {
                "name": visible(symbol.name),
                "kind": symbol.kind,
                "path": visible(symbol.path),
                "line": symbol.line,
            }
            for symbol in found.symbols
        ]
        return {"symbols": symbols, "unread": found.unread}
