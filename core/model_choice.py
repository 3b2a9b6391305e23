"""The choice of a model, and what is said of its server: the same for every screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from core.session import NamedModel
from utils.i18n import UserError, phrase
from utils.llm.profiles.server_profile import ServerProfile
from utils.text.nearest import with_suggestion

NAMED = 8
"""Models of a server that are named."""


def served(model: NamedModel, name: str) -> str:
    """Return *name*. Raises `UserError` where the server lists its models, and not that one."""
    names = model.models(name)
    if names and name not in names:
        listed = ", ".join(names[:NAMED])
        problem = phrase(
            "The server has no model {name}. Available: {names}.", name=name, names=listed
        )
        raise UserError(with_suggestion(problem, name, names))
    return name


def is_served(model: NamedModel, name: str) -> bool:
    """Return whether a server lists *name* among its models."""
    return name in model.models(name)


def set_fields(model: NamedModel, said: Iterable[str]) -> None:
    """Change the profile of the server of *model*: all that is *said*, or nothing.

    Each is FIELD=VALUE; an empty value puts a field back to the usual. Raises `UserError`.
    """
    changes: dict[str, Any] = {}
    for one in said:
        name, mark, value = one.partition("=")
        try:
            if not mark:
                raise ValueError(f"{one} is not FIELD=VALUE")
            is_usual = not value and name in ServerProfile.__dataclass_fields__
            changes[name] = None if is_usual else ServerProfile.parse_value(name, value)
        except ValueError as error:
            what = phrase("Invalid server setting: {why}.", why=str(error))
            raise UserError(what) from None
    model.set_profile(changes)
    for name, value in changes.items():
        meant = getattr(model.usual_profile, name) if value is None else value
        if getattr(model.profile, name) != meant:
            raise UserError(
                phrase("{name} is set in config.toml, which takes precedence.", name=name)
            )


def described(model: NamedModel) -> list[Mapping[str, Any]]:
    """Return the fields of the profile of the server of *model*, in the words of `set_fields`.

    Each has its name, its value, the usual one, and the choices there are, none for a number.
    """
    now, usual = model.profile, model.usual_profile
    return [
        {
            "name": field.name,
            "value": now.said(field.name),
            "usual": usual.said(field.name),
            "choices": list(ServerProfile.choices(field.name)),
        }
        for field in fields(ServerProfile)
    ]
