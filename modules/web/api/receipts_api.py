"""The route about the receipts of a session: what was run, and whether it still stands."""

from __future__ import annotations

from typing import Annotated, Any

from core.redaction import map_strings
from modules.checks.feature import Checks
from modules.files.project import Project
from modules.web.files.stat_cache import StatCache, stamp_of
from modules.web.files.watcher import MAX_WATCHED, FolderWatcher
from modules.web.http.errors import as_api_errors
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from utils.text.clean import visible
from utils.text.codec import to_plain

_MAX_FILES = 20_000


class ReceiptsApi:
    """Answers about the receipts of the sessions of *registry*, which rest on files of *project*.

    *stat_cache* records the states of these files in which the receipts were judged; *watcher*
    looks at those that are too many for a page to watch.
    """

    def __init__(
        self,
        project: Project,
        registry: SessionRegistry,
        stat_cache: StatCache,
        watcher: FolderWatcher,
    ) -> None:
        self._project = project
        self._watcher = watcher
        self._registry = registry
        self._stat_cache = stat_cache

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
            rested_on = checks.files_to_watch(_MAX_FILES)
            files = rested_on[:MAX_WATCHED]
            for path in files:
                self._stat_cache.record(visible(path), stamp_of(self._project.stat(path)))
            self._watcher.sweep(rested_on[MAX_WATCHED:])
            found = checks.receipts_by_turn()
        receipts = [{"turn": turn, **to_plain(receipt)} for turn, receipt in found]
        told = map_strings(receipts, runner.terminal.redact)
        return {"receipts": told, "files": list(map(visible, files)) if found else []}
