"""The route about the receipts of a session: what was run, and whether it still stands."""

from __future__ import annotations

from typing import Annotated, Any

from core.redaction import map_strings
from modules.checks.feature import Checks
from modules.web.files.watcher import MAX_WATCHED
from modules.web.http.errors import as_api_errors
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from utils.text.clean import visible
from utils.text.codec import to_plain


class ReceiptsApi:
    """Answers about the receipts of the sessions of *registry*."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry

    @route(
        "GET",
        "/api/sessions/{id}/receipts",
        "What was run in a session, and whether the files are still as they were.",
        answer={
            "receipts": "Each with its turn, command, exit code, state and the files that changed.",
            "files": "Files that they rest on, to be watched: as many as can be.",
        },
    )
    def receipts(self, id: Annotated[str, "The id of the session."]) -> dict[str, Any]:  # noqa: A002
        runner = self._registry.open(id)
        checks = runner.terminal.features.find(Checks)
        if checks is None:
            return {"receipts": [], "files": []}
        with as_api_errors():
            found = checks.receipts_by_turn()
            files = checks.files_to_watch(MAX_WATCHED) if found else []
        receipts = [{"turn": turn, **to_plain(receipt)} for turn, receipt in found]
        told = map_strings(receipts, runner.terminal.redact)
        return {"receipts": told, "files": [visible(path) for path in files]}
