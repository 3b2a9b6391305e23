"""The API on the board: what works in the project, and how it is answered and stopped."""

from __future__ import annotations

from typing import Annotated, Any

from core.conversation.transcript import Packet
from core.events import Reply
from core.redaction import map_strings
from modules.agents.feature import Agents
from modules.agents.work import Work, session_of
from modules.web.api.sessions_api import ID
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.routes import route
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_registry import SessionRegistry
from utils.i18n import phrase
from utils.text.codec import to_plain

_ASKING = Annotated[str, "The id of the session that asks."]


class AgentsApi:
    """Shows what works in the project of *registry*, in whichever process."""

    def __init__(self, registry: SessionRegistry, redactor: PageRedactor) -> None:
        self._registry = registry
        self._redactor = redactor

    @route(
        "GET",
        "/api/sessions/{id}/work",
        "What works in the project of a session: sessions, helpers, races and racers.",
        answer={
            "work": "Each behind what it is part of, with its id, kind, title, state (working, "
            "checking, asking, waiting for a choice, idle), parent, what it does or asks, "
            "cost_usd, the line that has a choice asked, the session in which it is answered, and "
            "whether this server runs that: what another process does is asked about by itself."
        },
    )
    def work(self, id: ID) -> Packet:  # noqa: A002 - its name in the address
        agents = self._agents(id)
        self._redactor.refresh_if_stale()
        runners = self._registry.open_runners
        with as_api_errors():
            work = agents.work({one.session for one in runners if one.terminal.is_in_turn})
        here = {one.session for one in runners if not one.terminal.locked_by}
        return {"work": [self._told(one, session_of(one, work), here) for one in work]}

    def _told(self, work: Work, session: str, here: set[str]) -> Packet:
        redact = self._redactor.redact
        return {
            "id": work.id,
            "kind": work.kind,
            "title": to_plain(map_strings(work.title, redact)),
            "state": work.state,
            "parent": work.parent,
            "doing": to_plain(map_strings(work.doing, redact)),
            "cost_usd": work.cost_usd,
            "line": work.line,
            "session": session,
            "here": session in here,
        }

    @route(
        "POST",
        "/api/sessions/{id}/work/stop",
        "Stop a session that works, or one thing that works in it.",
        status=204,
    )
    def stop(self, id: ID, what: Annotated[str, "The id of the work."]) -> None:  # noqa: A002
        runner = self._registry.open(id)
        if what == id and not runner.terminal.locked_by:
            runner.stop()
            return
        with as_api_errors():
            self._agents(id).stop(what)

    @route(
        "GET",
        "/api/sessions/{id}/work/question",
        "What a session asks that works in another process of the person.",
        answer={
            "key": "What tells this question from any other.",
            "event": "The `ApprovalAsked`.",
            "arguments": "Those of the call that is asked about.",
        },
    )
    def question(self, id: ID, what: _ASKING) -> Packet:  # noqa: A002
        with as_api_errors():
            asked = self._agents(id).question(what)
        self._redactor.refresh_if_stale()
        told: Packet = to_plain(map_strings(asked, self._redactor.redact))
        return {**told, "key": asked.key}

    @route(
        "POST",
        "/api/sessions/{id}/work/answer",
        "Answer the question of a session that works in another process: that one, or none.",
        status=204,
    )
    def answer(
        self,
        id: ID,  # noqa: A002
        what: _ASKING,
        key: Annotated[str, "The key of the question."],
        yes: bool,
        always: bool = False,
        pattern: str = "",
        reason: str = "",
        arguments: Annotated[
            dict[str, Any] | None, "With a yes: what the call is to run with, all of it."
        ] = None,
        lasts: bool = False,
        text: str = "",
    ) -> None:
        reply = Reply(
            yes, always and yes, pattern, reason, arguments if yes else None, lasts and yes, text
        )
        with as_api_errors():
            self._agents(id).answer(what, key, reply)

    def _agents(self, session: str) -> Agents:
        agents = self._registry.open(session).terminal.features.find(Agents)
        if agents is None:
            raise ApiError("not_found", phrase("There is no board here."))
        return agents
