"""Frozen dataclasses to plain JSON values and back, by their annotations."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_SCALARS = frozenset({str, int, float, bool, types.NoneType})


def to_plain(value: Any) -> Any:
    """Return *value* with every dataclass in it as a dict and every tuple as a list."""
    kind: Any = type(value)
    if kind in _SCALARS:  # most values are, and whether one is a mapping is a costly question
        return value
    if (names := _field_names(kind)) is not None:
        return {name: to_plain(getattr(value, name)) for name in names}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    return value


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields of the dataclass *kind*, None for a kind that is none."""
    if not dataclasses.is_dataclass(kind):
        return None
    return tuple(field.name for field in dataclasses.fields(kind))


def from_plain(kind: Any, plain: Any) -> Any:
    """Rebuild the value of type *kind* that `to_plain` flattened.

    Fields that *kind* does not have are ignored and missing ones take their defaults, so that an
    older or newer Onefold's data still loads. Raises `ValueError` where no reading fits.
    """
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _from_union(get_args(kind), plain)
    if origin is tuple:
        return tuple(from_plain(get_args(kind)[0], item) for item in plain)
    if origin is Mapping:
        return {name: from_plain(get_args(kind)[1], item) for name, item in plain.items()}
    if origin is list:
        return [from_plain(get_args(kind)[0], item) for item in plain]
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _object(kind, plain)
    return plain


def _object(kind: type, plain: Any) -> Any:
    if not isinstance(plain, dict):
        raise ValueError(f"{kind.__name__} wants an object, not {plain!r}")
    hints = _hints(kind)
    return kind(**{name: from_plain(hints[name], v) for name, v in plain.items() if name in hints})


def _from_union(kinds: tuple[Any, ...], plain: Any) -> Any:
    """Pick the dataclass whose `kind` literal, or else whose field names, fit *plain*."""
    if not isinstance(plain, dict):
        return plain
    classes = [k for k in kinds if isinstance(k, type) and dataclasses.is_dataclass(k)]
    for kind in classes:
        hints = _hints(kind)
        if "kind" in plain and get_origin(hints.get("kind")) is Literal:
            if plain["kind"] in get_args(hints["kind"]):
                return _object(kind, plain)
        elif plain.keys() <= hints.keys():
            return _object(kind, plain)
    if classes:
        raise ValueError(f"none of {[kind.__name__ for kind in classes]} fits {plain!r}")
    return plain


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
