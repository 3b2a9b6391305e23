"""Texts that must not be seen as they are, changed wherever they stand in a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

Value = TypeVar("Value")
Change = Callable[[str], str]


class Redactor(Protocol):
    """Knows what must not be seen."""

    def blind(self, text: str) -> str:
        """Return *text* with names in the place of what must not be seen."""

    def unsure(self, text: str) -> int:
        """Return how many characters at the end may begin something that must not be seen."""


def mapped(value: Value, change: Change) -> Value:
    """Return *value* with every text in it changed; keys and numbers stay as they are."""
    return _mapped(value, change)  # type: ignore[no-any-return]


def _mapped(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_mapped(item, change) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    old = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    new = {name: _mapped(item, change) for name, item in old.items()}
    return dataclasses.replace(value, **new) if new != old else value


class Stream:
    """Blinds a text that comes in pieces: what may begin a secret waits for the next piece."""

    def __init__(self, blind: Redactor) -> None:
        self._blind = blind
        self._held = ""

    def add(self, text: str) -> str:
        known = self._blind.blind(self._held + text)
        cut = len(known) - self._blind.unsure(known)
        self._held = known[cut:]
        return known[:cut]

    def end(self) -> str:
        held, self._held = self._held, ""
        return held
