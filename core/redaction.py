"""Texts that must not be seen as they are, changed wherever they stand in a value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

Value = TypeVar("Value")
TextTransform = Callable[[str], str]


class Redactor(Protocol):
    """Knows what must not be seen."""

    def redact(self, text: str) -> str:
        """Return *text* with names in the place of what must not be seen."""

    def partial_secret_length(self, text: str) -> int:
        """Return how many characters at the end may begin something that must not be seen."""


def map_strings(value: Value, transform: TextTransform) -> Value:
    """Return *value* with every text in it changed; keys and numbers stay as they are."""
    return _map_strings(value, transform)  # type: ignore[no-any-return]


def _map_strings(value: Any, transform: TextTransform) -> Any:
    if isinstance(value, str):
        return transform(value)
    if isinstance(value, Mapping):
        return {key: _map_strings(item, transform) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_map_strings(item, transform) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    old = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    new = {name: _map_strings(item, transform) for name, item in old.items()}
    return dataclasses.replace(value, **new) if new != old else value


class StreamRedactor:
    """Blinds a text that comes in pieces: what may begin a secret waits for the next piece."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._pending = ""

    def add(self, text: str) -> str:
        redacted = self._redactor.redact(self._pending + text)
        safe_length = len(redacted) - self._redactor.partial_secret_length(redacted)
        self._pending = redacted[safe_length:]
        return redacted[:safe_length]

    def flush(self) -> str:
        rest, self._pending = self._pending, ""
        return rest
