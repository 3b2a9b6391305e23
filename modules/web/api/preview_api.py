"""The API on previews: links to what the jobs of a session serve."""

from __future__ import annotations

from typing import Annotated

from core.conversation.transcript import Packet
from modules.preview.feature import Previews
from modules.web.api.sessions_api import ID
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.params import Bounds
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from utils.i18n import phrase

_JOB = Annotated[int, "The number of the job."]
_PORT = Annotated[int, "The port that it listens on.", Bounds(1, 65_535)]


class PreviewApi:
    """Makes links to previews of the sessions of *registry*."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry

    @route(
        "POST",
        "/api/sessions/{id}/previews",
        "Make a link to what a job serves. It works once, in a browser on this machine.",
        answer={"url": "The link."},
    )
    def make_link(
        self,
        id: ID,  # noqa: A002 - its name in the address
        job: _JOB,
        port: _PORT,
        pane: Annotated[bool, "For a frame on our page; else for a tab of its own."] = False,
        path: Annotated[str, "What to show of it.", Bounds(0, 8_000)] = "/",
    ) -> Packet:
        with as_api_errors():
            return {"url": self._previews(id).link(job, port, "pane" if pane else "tab", path)}

    @route(
        "GET",
        "/api/sessions/{id}/previews",
        "Which page a pane shows of what a job serves.",
        answer={"path": "Its path and query."},
    )
    def shown_path(self, id: ID, job: _JOB, port: _PORT) -> Packet:  # noqa: A002
        with as_api_errors():
            return {"path": self._previews(id).path(job, port)}

    def _previews(self, session: str) -> Previews:
        previews = self._registry.open(session).terminal.features.find(Previews)
        if previews is None:
            raise ApiError("failed", phrase("Previews are not available here."))
        return previews
