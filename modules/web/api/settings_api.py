"""The API on the settings: what holds, and what holds from the next start on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from core.conversation.transcript import Packet
from modules.settings.feature import SettingsCommand
from modules.web.http.errors import as_api_errors
from modules.web.http.params import Bounds
from modules.web.http.routes import route
from utils.text.codec import to_plain

if TYPE_CHECKING:
    from modules.settings.kept import Setting

_MAX_TEXT = 100_000  # characters
_ANSWER = {
    "path": "Of the file that keeps them.",
    "settings": "Each with its group, meaning, value, default, source and what the file keeps.",
}


class SettingsApi:
    """Shows the settings of *command*, and keeps others for the next start."""

    def __init__(self, command: SettingsCommand) -> None:
        self._command = command

    @route("GET", "/api/settings", "The settings, and where each comes from.", answer=_ANSWER)
    def show(self) -> Packet:
        kept = self._command.kept
        with as_api_errors():
            settings = [_to_json(setting) for setting in kept.all()]
        return {"path": str(kept.path), "settings": settings}

    @route(
        "PATCH",
        "/api/settings",
        "Keep a setting for the next start.",
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


def _to_json(setting: Setting) -> Packet:
    return {name.removeprefix("is_"): value for name, value in to_plain(setting).items()}
