"""The route on what was spent, for charts: tokens, cache hits and cost."""

from __future__ import annotations

from typing import Annotated, get_args

from core.conversation.figures import By, figures_by
from core.conversation.transcript import Packet
from modules.web.http.errors import as_api_errors, bad_request
from modules.web.http.routes import route
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_registry import SessionRegistry
from utils.text.codec import to_plain


class FiguresApi:
    """Answers what the sessions of *registry* have spent."""

    def __init__(self, registry: SessionRegistry, redactor: PageRedactor) -> None:
        self._registry = registry
        self._redactor = redactor

    @route(
        "GET",
        "/api/figures",
        "What was spent, by turn, session, day or model.",
        answer={"figures": "Each with its key, its label and its usage, the oldest first."},
    )
    def figures(
        self,
        by: Annotated[str, "turn, session, day or model."] = "day",
        session: Annotated[str, "By turn: whose turns."] = "",
    ) -> Packet:
        if by not in get_args(By):
            raise bad_request("by must be turn, session, day or model")
        store = self._registry.store
        with as_api_errors():
            found = figures_by(by, store.spent(), session)  # type: ignore[arg-type]  # as checked
            titles = {one.key: store.info(one.key).title for one in found if by == "session"}
        return {
            "figures": [
                {
                    "key": one.key,
                    "label": self._redactor.redact(titles.get(one.key) or one.key),
                    "usage": to_plain(one.usage),
                }
                for one in found
            ]
        }
