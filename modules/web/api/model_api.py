"""What can be asked about the model of a session and what its server takes."""

from __future__ import annotations

from typing import Annotated, Any

from core.model_choice import described
from core.web_terminal import Packet
from modules.web.api.sessions_api import ID
from modules.web.http.errors import ApiError, bad_request
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import SessionRunner

_NAME = Annotated[str | None, "The model to go on with."]
_FIELDS = Annotated[
    dict[str, Any] | None,
    "What its server takes, by the name of the field; an empty value puts one back to the usual.",
]
_ANSWER = {
    "model": "Its name.",
    "practice": "Whether it is the practice model, which has no server.",
    "fields": "What its server takes: each with its name, value, usual value and choices.",
}


class ModelApi:
    """Shows and changes the model of a session, and what is known of its server."""

    def __init__(self, workspace: SessionRegistry) -> None:
        self._workspace = workspace

    @route(
        "GET", "/api/sessions/{id}/model", "The model, and what its server takes.", answer=_ANSWER
    )
    def show(self, id: ID) -> Packet:  # noqa: A002 - its name in the address
        return _shown(self._workspace.open(id))

    @route(
        "GET",
        "/api/sessions/{id}/models",
        "List what the servers have.",
        answer={"models": "Their names; none of a server that does not say so in time."},
    )
    def models(self, id: ID) -> Packet:  # noqa: A002
        return {"models": list(self._workspace.open(id).terminal.model.models())}

    @route(
        "PATCH",
        "/api/sessions/{id}/model",
        "Change the model, or say what its server takes.",
        answer=_ANSWER,
    )
    def change(
        self,
        id: ID,  # noqa: A002
        model: _NAME = None,
        fields: _FIELDS = None,
    ) -> Packet:
        seat = self._own(id)
        if model:
            seat.do(f"/model {_word(model)}")
        if fields:
            said = (f"{_word(name)}={_word(str(value))}" for name, value in fields.items())
            seat.do(f"/model set {' '.join(said)}")
        return _shown(seat)

    @route(
        "DELETE",
        "/api/sessions/{id}/model/profile",
        "Forget what was learnt and said of the server: it is learnt anew.",
        answer=_ANSWER,
    )
    def forget(self, id: ID) -> Packet:  # noqa: A002
        seat = self._own(id)
        seat.do("/model forget")
        return _shown(seat)

    def _own(self, session: str) -> SessionRunner:
        seat = self._workspace.open(session)
        if seat.terminal.locked_by:
            raise ApiError("held", seat.terminal.locked_by)
        return seat


def _shown(seat: SessionRunner) -> Packet:
    terminal = seat.terminal
    fields = [] if terminal.is_practice else described(terminal.model)
    return {"model": terminal.model.model, "practice": terminal.is_practice, "fields": fields}


def _word(said: str) -> str:
    if len(said.split()) > 1:
        raise bad_request(f"{said!r} is more than one word")
    return said.strip()
