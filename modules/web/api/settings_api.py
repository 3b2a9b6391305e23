"""The API on the settings: what holds, and what holds from the next start on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

from core.conversation.transcript import Packet
from modules.settings.feature import SettingsCommand
from modules.web.http.errors import as_api_errors
from modules.web.http.params import Bounds
from modules.web.http.routes import route
from utils.text.codec import to_plain

if TYPE_CHECKING:
    from modules.models.local_servers import LocalServer
    from modules.settings.kept import Setting

_MAX_TEXT = 100_000  # characters
_ANSWER = {
    "path": "Of the file that keeps them.",
    "settings": "Each with its group, meaning, value, default, source and what the file keeps.",
}


class ModelServers(Protocol):
    """The servers of models that the sessions use."""

    @property
    def name(self) -> str: ...
    @property
    def is_practice(self) -> bool: ...
    @property
    def needs_key(self) -> bool: ...
    def local_servers(self) -> Sequence[LocalServer]: ...
    def practise(self) -> None: ...


class SettingsApi:
    """Shows the settings of *command* and keeps others; *servers* is what is asked with them."""

    def __init__(self, command: SettingsCommand, servers: ModelServers) -> None:
        self._command = command
        self._servers = servers

    @route("GET", "/api/settings", "The settings, and where each comes from.", answer=_ANSWER)
    def show(self) -> Packet:
        kept = self._command.kept
        with as_api_errors():
            settings = [_to_json(setting) for setting in kept.all()]
        return {"path": str(kept.path), "settings": settings}

    @route(
        "GET",
        "/api/settings/shortcuts",
        "The keyboard shortcuts as the settings have them now.",
        answer={"page": "The key of each action of the page."},
    )
    def shortcuts(self) -> Packet:
        from utils.shortcuts import keys_of_page  # for who changes some

        return {"page": keys_of_page(self._command.live.now.shortcuts)}

    @route(
        "PATCH",
        "/api/settings",
        "Save a setting; it says whether that takes effect now or later.",
        answer={"setting": "As it is now."},
    )
    def keep(
        self,
        name: Annotated[str, "Of the setting."],
        value: Annotated[
            str | None, "Its value as the environment would say it; null: its default.",
            Bounds(0, _MAX_TEXT),
        ] = None,
    ) -> Packet:  # fmt: skip
        with as_api_errors():
            return {"setting": _to_json(self._command.kept.keep(name, value))}

    @route(
        "POST",
        "/api/settings/test",
        "Test a setting as the next start would have it: with a real request to a model's server.",
        answer={"said": "That it works, in words; what does not is an error."},
    )
    def test(self, name: Annotated[str, "Of the setting."]) -> Packet:
        with as_api_errors():
            return {"said": to_plain(self._command.kept.test(name))}

    @route(
        "GET",
        "/api/settings/servers",
        "Servers of models on this machine, which want no key.",
        answer={"servers": "Each with its name, base_url and model."},
    )
    def servers(self) -> Packet:
        return {"servers": to_plain(list(self._servers.local_servers()))}

    @route(
        "POST",
        "/api/settings/servers",
        "Use a server of models that wants no key; it is sent that of no other.",
        answer={"model": "The name of the model, with the provider that the server is now."},
    )
    def use_server(
        self,
        name: Annotated[str, "Of the program that serves.", Bounds(1, 40)],
        base_url: Annotated[str, "Its address.", Bounds(1, 1_000)],
        model: Annotated[str, "As the server names it.", Bounds(1, 200)],
    ) -> Packet:
        with as_api_errors():
            self._command.kept.use_server(name, base_url, model)
            return {"model": self._command.kept.find("model").value}

    @route(
        "POST",
        "/api/settings/practice",
        "Have the practice model answer in all sessions, until a key or a server is saved.",
        answer={"practice": "true"},
    )
    def practise(self) -> Packet:
        self._servers.practise()
        return {"practice": True}


def _to_json(setting: Setting) -> Packet:
    return {name.removeprefix("is_"): value for name, value in to_plain(setting).items()}
