"""The API on the model of a session and on what its server takes."""

from __future__ import annotations

from typing import Annotated, Any

from core.commands import Commands
from core.conversation.transcript import Packet
from core.feature import name_of
from core.model_choice import described
from core.session import NamedModel
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

_MODEL = name_of(Commands.model)


class ModelApi:
    """Shows and changes the model of a session, and what is known of its server."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry

    @route(
        "GET", "/api/sessions/{id}/model", "The model, and what its server takes.", answer=_ANSWER
    )
    def show(self, id: ID) -> Packet:  # noqa: A002 - its name in the address
        return _to_json(self._registry.open(id))

    @route(
        "GET",
        "/api/sessions/{id}/models",
        "List what the servers have.",
        answer={
            "models": "Their names; none of a server that does not say so in time.",
            "known": "What is known of each, and of the model in use: see docs/protocol.md.",
        },
    )
    def models(self, id: ID) -> Packet:  # noqa: A002
        model = self._registry.open(id).terminal.model
        names = list(model.models())
        shown = names if model.model in names else [model.model, *names]
        return {"models": names, "known": [_known(model, name) for name in shown]}

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
        runner = self._writable(id)
        if model:
            runner.do(f"{_MODEL} {_word(model)}")
        if fields:
            assignments = (f"{_word(name)}={_word(str(value))}" for name, value in fields.items())
            runner.do(f"{_MODEL} set {' '.join(assignments)}")
        return _to_json(runner)

    @route(
        "DELETE",
        "/api/sessions/{id}/model/profile",
        "Forget what was learnt and said of the server: it is learnt anew.",
        answer=_ANSWER,
    )
    def forget(self, id: ID) -> Packet:  # noqa: A002
        runner = self._writable(id)
        runner.do(f"{_MODEL} forget")
        return _to_json(runner)

    def _writable(self, session: str) -> SessionRunner:
        runner = self._registry.open(session)
        if runner.terminal.locked_by:
            raise ApiError("held", runner.terminal.locked_by)
        return runner


def _to_json(runner: SessionRunner) -> Packet:
    terminal = runner.terminal
    fields = [] if terminal.is_practice else described(terminal.model)
    return {"model": terminal.model.model, "practice": terminal.is_practice, "fields": fields}


def _known(model: NamedModel, name: str) -> Packet:
    """Return what a person chooses by: prices in US dollars per million tokens; 0: not known."""
    profile, tariff = model.known_of(name)
    price = tariff.price if tariff else None
    return {
        "name": name,
        "price": price and {"hit": price.hit, "miss": price.miss, "output": price.output},
        "window": profile.window,
        "pictures": profile.pictures,
        "thinking": profile.thinking or bool(profile.thinks_by),
    }


def _word(text: str) -> str:
    if len(text.split()) > 1:
        raise bad_request(f"{text!r} is more than one word")
    return text.strip()
