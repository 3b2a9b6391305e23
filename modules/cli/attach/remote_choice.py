"""Commands that are typed alone to a running server, with what is chosen for them from a list."""

from __future__ import annotations

from core.commands import Commands
from core.feature import name_of
from modules.cli.attach.followed_session import FollowedSession
from modules.cli.attach.http import ServerLink
from modules.cli.colors import Colors, ThemeName
from modules.cli.input.picked_line import mode_picker, model_picker, picked, theme_picker
from modules.settings.feature import THEME, SettingsCommand
from modules.translator import Translator


def chosen_line(
    link: ServerLink,
    session: FollowedSession,
    translator: Translator,
    colors: Colors,
    line: str,
) -> str | None:
    """Return *line*, a command that stands alone, with what the person chooses for it.

    It is as it was where there is nothing to choose from, None where they leave. Raises
    `UserError` where the server does not answer.
    """
    name, state = line.strip(), session.state
    if name == name_of(Commands.approve):
        picker = mode_picker(state["approval"], translator, colors)
    elif name == name_of(Commands.model) and not state["practice"]:
        names = link.request("GET", session.address("models"))["models"]
        if (found := model_picker(names, state["model"], translator, colors)) is None:
            return line
        picker = found
    elif name == name_of(SettingsCommand.theme):
        picker = theme_picker(translator, colors)
    else:
        return line
    chosen = picked(picker, colors)
    return None if chosen is None else f"{name} {chosen}"


def theme_of(link: ServerLink) -> ThemeName:
    """Return the theme that the server's settings say now. Raises `UserError`."""
    settings = link.request("GET", "/api/settings")["settings"]
    theme: ThemeName = next(one["value"] for one in settings if one["name"] == THEME)
    return theme
