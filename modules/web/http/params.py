"""Arguments of a request, parsed by the signature of the method that answers it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from core.redaction import map_strings
from modules.web.http.errors import bad_request
from utils.text.lines import replace_surrogates

_JSON_TYPES = {
    str: "string",
    int: "integer",
    bool: "boolean",
    bytes: "binary",
    list: "array",
    dict: "object",
}
_INTEGER = re.compile("-?[0-9]{1,19}")
_BOOLEANS = {"0": False, "false": False, "": False, "1": True, "true": True}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a number, or of how many characters a text has."""

    minimum: int
    maximum: int = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Header:
    """The header of the request that an argument is taken from."""

    name: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Marks a text in which nothing may be repaired: it is refused where it cannot be stored."""


INT64 = Bounds(-(2**63))
"""Bounds of a number that has no others: the integers that SQLite can store."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a request; *default* is `...` when it must be given.

    *header* names the header that it stands in, "" for none.
    """

    name: str
    kind: type
    default: Any
    is_nullable: bool
    help: str = ""
    choices: tuple[str, ...] = ()
    bounds: Bounds | None = None
    header: str = ""
    is_verbatim: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the argument."""
        name = _JSON_TYPES[self.kind]
        schema: dict[str, Any] = {"type": [name, "null"] if self.is_nullable else name}
        if self.kind is list:
            schema["items"] = {"type": "string"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.bounds:
            minimum_key, maximum_key = (
                ("minimum", "maximum") if self.kind is int else ("minLength", "maxLength")
            )
            schema |= {minimum_key: self.bounds.minimum, maximum_key: self.bounds.maximum}
        if self.default not in (..., None):
            schema["default"] = self.default
        return schema

    def parse(self, value: Any) -> Any:
        """Return *value* as an argument, its texts without halves of characters unless exact.

        Raises `ApiError` if it is of another kind.
        """
        if value is None and self.is_nullable:
            return None
        if self.kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON has one kind of numbers: 1.0 is 1
        is_valid = isinstance(value, self.kind) and not (
            self.kind is int and isinstance(value, bool)
        )
        if self.kind is list and is_valid:
            is_valid = all(isinstance(item, str) for item in value)
        if not is_valid:
            raise bad_request(f"{self.name} must be of type {_JSON_TYPES[self.kind]}")
        if self.choices and value not in self.choices:
            raise bad_request(f"{self.name} must be one of {', '.join(self.choices)}")
        if self.bounds:
            self._check(value, self.bounds)
        return value if self.is_verbatim else map_strings(value, replace_surrogates)

    def _check(self, value: Any, bounds: Bounds) -> None:
        verb = "be" if self.kind is int else "have a length"
        if not bounds.minimum <= (value if self.kind is int else len(value)) <= bounds.maximum:
            raise bad_request(f"{self.name} must {verb} from {bounds.minimum} to {bounds.maximum}")

    def parse_text(self, text: str) -> Any:
        """Return *text*, as it stands in an address, as an argument."""
        if self.kind is bool and text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
        is_number = self.kind is int and _INTEGER.fullmatch(text)
        return self.parse(int(text) if is_number else text)


def parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of *function* that a request gives: all that are annotated."""
    return _parameters(getattr(function, "__func__", function))  # a method would keep its object


@cache
def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    hints = get_type_hints(function, include_extras=True)
    return tuple(
        _parameter(name, hints[name], parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if name in hints
    )


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    hint, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    is_nullable = type(None) in get_args(hint)
    if is_nullable:
        hint = next(kind for kind in get_args(hint) if kind is not type(None))
    is_choice = get_origin(hint) is Literal
    kind = str if is_choice else get_origin(hint) or hint
    if default is inspect.Parameter.empty:
        default = ...
    choices = get_args(hint) if is_choice else ()
    bounds = next((n for n in metadata if isinstance(n, Bounds)), INT64 if kind is int else None)
    help_ = next((note for note in metadata if isinstance(note, str)), "")
    header = next((note.name for note in metadata if isinstance(note, Header)), "")
    is_verbatim = any(isinstance(note, Verbatim) for note in metadata)
    return Parameter(name, kind, default, is_nullable, help_, choices, bounds, header, is_verbatim)


def arguments(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for *function* in *values*; unknown ones are ignored.

    Raises `ApiError`.
    """
    kwargs = {}
    for parameter in parameters(function):
        if parameter.name in values:
            kwargs[parameter.name] = parameter.parse(values[parameter.name])
        elif parameter.default is ...:
            raise bad_request(f"{parameter.name} is missing")
    return kwargs
