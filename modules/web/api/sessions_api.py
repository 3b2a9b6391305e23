"""What a program can ask about the sessions that there are: all of them, and one as it is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Literal, assert_never

from core.conversation.history import mended
from core.redaction import mapped
from core.web_terminal import Packet
from modules.export import to_json, to_markdown
from modules.web.api.files_api import attachment
from modules.web.http.errors import explained
from modules.web.http.params import Within
from modules.web.http.routes import Sent, route
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_registry import SessionRegistry
from utils.pictures import ReadPicture
from utils.text.codec import to_plain

TURNS = 30
"""Turns in a snapshot unless more are asked for."""
MOST = 1_000
ID = Annotated[str, "The id of the session."]
_TURN = Annotated[int, "The last turn to take over; 0 none.", Within(0)]
_ROW = {
    "id": "Of the session.",
    "title": "What it is called.",
    "model": "The name of the model.",
    "created": "When it began, in seconds since the epoch.",
    "updated": "When somebody last worked in it.",
    "turns": "How many it has.",
    "parent": "The session that it was forked from.",
    "archived": "Whether it was put away.",
    "running": "Whether a turn runs.",
    "asking": "Whether a question is open.",
    "queued": "How many messages wait.",
}
Replay = Callable[[str, list[Packet], ReadPicture], str]
"""Makes a page that replays events, from its title, them and what gives their pictures."""


class SessionsApi:
    """Answers about the sessions of *workspace*. Every method may block, and raises `Refused`."""

    def __init__(self, workspace: SessionRegistry, replay: Replay, veil: PageRedactor) -> None:
        self._workspace = workspace
        self._replay = replay
        self._veil = veil

    @route(
        "GET",
        "/api/sessions",
        "List the sessions, the newest first.",
        answer={"sessions": "A row of each, as one session is told."},
    )
    def sessions(self, archived: bool = False, limit: int = 200) -> Packet:
        rows = self._workspace.rows(archived=archived, limit=within(limit, MOST))
        return {"sessions": rows}

    @route("POST", "/api/sessions", "Begin a session.", status=201, answer=_ROW)
    def create(self) -> Packet:
        return self._workspace.row(self._workspace.create().session)

    @route(
        "GET",
        "/api/sessions/{id}",
        "One session and its state.",
        answer={**_ROW, "state": "All that is true of it besides its talk."},
    )
    def session(self, id: ID) -> Packet:  # noqa: A002 - its name in the address
        seat = self._workspace.open(id)
        return {**self._workspace.row(id), "state": seat.picture.state()}

    @route("PATCH", "/api/sessions/{id}", "Rename or archive a session.", answer=_ROW)
    def change(self, id: ID, title: str | None = None, archived: bool | None = None) -> Packet:  # noqa: A002
        if title is not None:
            self._workspace.rename(id, title)
        if archived is not None:
            self._workspace.archive(id, archived)
        return self._workspace.row(id)

    @route("DELETE", "/api/sessions/{id}", "Forget a session for good.", status=204)
    def delete(self, id: ID) -> None:  # noqa: A002
        self._workspace.delete(id)

    @route(
        "GET",
        "/api/sessions/{id}/transcript",
        "Older turns of a session.",
        answer={"first_turn": "The number of the first.", "events": "Those of the turns."},
    )
    def transcript(self, id: ID, before: int = 2**31, turns: int = TURNS) -> Packet:  # noqa: A002
        seat = self._workspace.open(id)
        first, events = seat.picture.earlier(before, within(turns, MOST))
        return {"first_turn": first, "events": events}

    @route(
        "POST",
        "/api/sessions/{id}/fork",
        "Begin a session from an earlier turn.",
        status=201,
        answer=_ROW,
    )
    def fork(self, id: ID, turn: _TURN) -> Packet:  # noqa: A002
        return self._workspace.row(self._workspace.fork(id, turn))

    @route("GET", "/api/sessions/{id}/export", "A session as a file: md, json or html.")
    def export(self, id: ID, format: Literal["md", "json", "html"] = "md") -> Sent:  # noqa: A002
        info = self._workspace.info(id)
        with explained():
            numbered = mended(self._workspace.store.load(id))
        self._veil.look()
        info = mapped(info, self._veil.hidden)
        records = [mapped(record, self._veil.hidden) for _, record in numbered]
        match format:
            case "md":
                return _file(f"{id}.md", to_markdown(records, info), "text/markdown")
            case "json":
                text = json.dumps(to_json(records, info), indent=1)
                return _file(f"{id}.json", text, "application/json")
            case "html":
                _, events = self._workspace.open(id).picture.earlier(2**31, 2**31)
                page = self._replay(info.title or id, events, self._workspace.pictures_of(id))
                return _file(f"{id}.html", page, "text/html")
            case _:
                assert_never(format)

    @route(
        "GET",
        "/api/search",
        "Search what was said in all sessions.",
        answer={"found": "Each with its session, title, turn, role, snippet and when."},
    )
    def search(self, text: str, limit: int = 20) -> Packet:
        found = self._workspace.search(text, within(limit, 200))
        self._veil.look()
        return {"found": [to_plain(mapped(one, self._veil.hidden)) for one in found]}


def within(number: int, most: int) -> int:
    return max(1, min(number, most))


def _file(name: str, text: str, kind: str) -> Sent:
    return attachment(name, text.encode("utf-8", "replace"), f"{kind}; charset=utf-8")
