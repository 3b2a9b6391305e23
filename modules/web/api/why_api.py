"""The route about where the lines of a file come from."""

from __future__ import annotations

from typing import Annotated, Any

from core.redaction import map_strings
from modules.web.files.content import MAX_PATH_LENGTH
from modules.web.http.errors import as_api_errors
from modules.web.http.params import Bounds
from modules.web.http.routes import route
from modules.web.sessions.page_redaction import PageRedactor
from modules.why.feature import Why
from utils.text.codec import to_plain

_LINE = Annotated[int, "From 1; 0 for the whole file.", Bounds(0)]


class WhyApi:
    """Answers with what *why* tells, as *redactor* shows it."""

    def __init__(self, why: Why, redactor: PageRedactor) -> None:
        self._why = why
        self._redactor = redactor

    @route(
        "GET",
        "/api/files/why",
        "Who wrote the lines of a file, in which call, and the words that asked for it.",
        answer={
            "card": "The answer of `/why`: path, start, end, line, note, and origins, each with its"
            " ranges of lines, writer, turn, call, the words that asked for it, and receipts.",
        },
    )
    def why(
        self,
        path: Annotated[str, "Of a file, seen from the project.", Bounds(1, MAX_PATH_LENGTH)],
        start: _LINE = 0,
        end: _LINE = 0,
    ) -> dict[str, Any]:
        with as_api_errors():
            card = self._why.card_of(path, start, end)
        self._redactor.refresh()
        return {"card": map_strings(to_plain(card), self._redactor.redact)}
