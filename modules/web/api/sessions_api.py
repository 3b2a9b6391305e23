"""Routes about the stored sessions: the list of them, and one as it is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, assert_never

from core.conversation.history import repaired
from core.conversation.transcript import Packet
from core.redaction import map_strings
from modules.export import to_json, to_markdown
from modules.sent_requests.request_log import requests_as_json
from modules.web.api.files_api import attachment
from modules.web.http.errors import as_api_errors
from modules.web.http.params import Bounds
from modules.web.http.routes import BinaryResponse, route
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_registry import SessionRegistry
from utils.pictures import ReadPicture
from utils.text.codec import to_plain

DEFAULT_TURNS = 30
"""Turns in a snapshot unless more are asked for."""
MAX_LIMIT = 1_000
ID = Annotated[str, "The id of the session."]
_TURN = Annotated[int, "The last turn to take over; 0 none.", Bounds(0)]
_TAGS = Annotated[list[str] | None, "All that it is to have from now on."]
_ROW = {
    "id": "Of the session.",
    "title": "What it is called.",
    "model": "The name of the model.",
    "created": "When it began, in seconds since the epoch.",
    "updated": "When somebody last worked in it.",
    "turns": "How many it has.",
    "parent": "The session that it was forked from.",
    "archived": "Whether it was put away.",
    "pinned": "Whether it stays at the top of the list.",
    "tags": "The words that it is found by.",
    "unread": "Whether a turn ended while nobody looked.",
    "cost_usd": "What its model calls cost.",
    "last": "The beginning of what was said last.",
    "running": "Whether a turn runs.",
    "asking": "Whether a question is open.",
    "queued": "How many messages wait.",
}
RenderReplay = Callable[[str, list[Packet], ReadPicture], str]
"""Renders a page that replays events: takes its title, the events, a reader of pictures."""


class SessionsApi:
    """Answers about the sessions of *registry*. Every method may block, and raises `ApiError`."""

    def __init__(
        self, registry: SessionRegistry, render_replay: RenderReplay, redactor: PageRedactor
    ) -> None:
        self._registry = registry
        self._render_replay = render_replay
        self._redactor = redactor

    @route(
        "GET",
        "/api/sessions",
        "List the sessions, the newest first.",
        answer={"sessions": "A row of each, as one session is told."},
    )
    def sessions(self, archived: bool = False, limit: int = 200) -> Packet:
        rows = self._registry.rows(archived=archived, limit=clamp(limit, MAX_LIMIT))
        return {"sessions": rows}

    @route("POST", "/api/sessions", "Begin a session.", status=201, answer=_ROW)
    def create(self) -> Packet:
        return self._registry.row(self._registry.create().session)

    @route(
        "GET",
        "/api/sessions/{id}",
        "One session and its state.",
        answer={**_ROW, "state": "All that is true of it besides its talk."},
    )
    def session(self, id: ID) -> Packet:  # noqa: A002 - its name in the address
        runner = self._registry.open(id)
        return {**self._registry.row(id), "state": runner.snapshot.state()}

    @route("PATCH", "/api/sessions/{id}", "Rename, archive, pin or tag a session.", answer=_ROW)
    def change(
        self,
        id: ID,  # noqa: A002
        title: str | None = None,
        archived: bool | None = None,
        pinned: bool | None = None,
        tags: _TAGS = None,
    ) -> Packet:
        if title is not None:
            self._registry.rename(id, title)
        if archived is not None:
            self._registry.archive(id, archived)
        if pinned is not None:
            self._registry.pin(id, pinned)
        if tags is not None:
            self._registry.tag(id, tags)
        return self._registry.row(id)

    @route("DELETE", "/api/sessions/{id}", "Forget a session for good.", status=204)
    def delete(self, id: ID) -> None:  # noqa: A002
        self._registry.delete(id)

    @route(
        "GET",
        "/api/sessions/{id}/transcript",
        "Older turns of a session.",
        answer={"first_turn": "The number of the first.", "events": "Those of the turns."},
    )
    def transcript(self, id: ID, before: int = 2**31, turns: int = DEFAULT_TURNS) -> Packet:  # noqa: A002
        runner = self._registry.open(id)
        first, events = runner.snapshot.earlier(before, clamp(turns, MAX_LIMIT))
        return {"first_turn": first, "events": events}

    @route(
        "POST",
        "/api/sessions/{id}/fork",
        "Begin a session from an earlier turn.",
        status=201,
        answer=_ROW,
    )
    def fork(self, id: ID, turn: _TURN) -> Packet:  # noqa: A002
        return self._registry.row(self._registry.fork(id, turn))

    @route("GET", "/api/sessions/{id}/export", "A session as a file: md, json or html.")
    def export(self, id: ID, format: Literal["md", "json", "html"] = "md") -> BinaryResponse:  # noqa: A002
        info = self._registry.info(id)
        with as_api_errors():
            numbered_records = repaired(self._registry.store.load(id))
        self._redactor.refresh()
        info = map_strings(info, self._redactor.redact)
        records = [map_strings(record, self._redactor.redact) for _, record in numbered_records]
        match format:
            case "md":
                return _attachment(f"{id}.md", to_markdown(records, info), "text/markdown")
            case "json":
                text = json.dumps(to_json(records, info, requests=self._requests(id)), indent=1)
                return _attachment(f"{id}.json", text, "application/json")
            case "html":
                _, events = self._registry.open(id).snapshot.earlier(2**31, 2**31)
                page = self._render_replay(info.title or id, events, self._registry.pictures_of(id))
                return _attachment(f"{id}.html", page, "text/html")
            case _:
                assert_never(format)

    def _requests(self, session: str) -> list[dict[str, Any]]:
        with as_api_errors():
            requests = requests_as_json(self._registry.requests.read(session))
        return map_strings(requests, self._redactor.redact)

    @route(
        "GET",
        "/api/search",
        "Search what was said in all sessions.",
        answer={"found": "Each with its session, title, turn, role, snippet and when."},
    )
    def search(self, text: str, limit: int = 20) -> Packet:
        matches = self._registry.search(text, clamp(limit, 200))
        self._redactor.refresh()
        return {"found": [to_plain(map_strings(match, self._redactor.redact)) for match in matches]}


def clamp(number: int, maximum: int) -> int:
    return max(1, min(number, maximum))


def _attachment(name: str, text: str, media_type: str) -> BinaryResponse:
    return attachment(name, text.encode("utf-8", "replace"), f"{media_type}; charset=utf-8")
