"""Texts that must not be seen as they are, changed wherever they stand in a value."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

Value = TypeVar("Value")
_WITHOUT_TEXT = frozenset({int, float, bool, NoneType})
TextTransform = Callable[[str], str]


class Redactor(Protocol):
    """Knows what must not be seen."""

    def redact(self, text: str) -> str:
        """Return *text* with names in the place of what must not be seen."""

    def partial_secret_length(self, text: str) -> int:
        """Return how many characters at the end may begin something that must not be seen."""


def map_strings(value: Value, transform: TextTransform) -> Value:
    """Return *value* with every text in it changed.

    Keys, numbers and the words of our own that a `Literal` names stay as they are: a file of the
    project may call any word a secret.
    """
    return _map_strings(value, transform)  # type: ignore[no-any-return]


def _map_strings(value: Any, transform: TextTransform) -> Any:
    if isinstance(value, str):
        return transform(value)
    kind: Any = type(value)
    if kind in _WITHOUT_TEXT:
        return value
    fields = _fields_with_text(kind)
    if fields is None:
        return _map_items(value, transform)
    old = {name: getattr(value, name) for name in fields}
    new = {name: _map_strings(item, transform) for name, item in old.items()}
    return dataclasses.replace(value, **new) if new != old else value


def _map_items(value: Any, transform: TextTransform) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_map_strings(item, transform) for item in value)
    if isinstance(value, Mapping):
        return {key: _map_strings(item, transform) for key, item in value.items()}
    return value


@cache
def _fields_with_text(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of the dataclass *kind*, but for those of a `Literal`.

    None stands for a kind that is no dataclass.
    """
    if not dataclasses.is_dataclass(kind):
        return None
    names = vars(sys.modules[kind.__module__])
    return tuple(
        field.name
        for field in dataclasses.fields(kind)
        if not _is_literal(_evaluated(field.type, names))
    )


def _evaluated(hint: Any, names: dict[str, Any]) -> Any:
    """Return what the annotation *hint* means among *names*, None where that is not known."""
    try:
        return get_type_hints(SimpleNamespace(__annotations__={"it": hint}), names)["it"]
    except NameError:  # imported for the type checker alone
        return None


def _is_literal(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return all(one is NoneType or _is_literal(one) for one in get_args(hint))
    return get_origin(hint) is Literal


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
