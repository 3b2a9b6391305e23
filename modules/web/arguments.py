"""The arguments of a request, read by the signature of what answers it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from modules.web.refusal import bad

_NAMES = {
    str: "string",
    int: "integer",
    bool: "boolean",
    bytes: "binary",
    list: "array",
    dict: "object",
}
_INTEGERS = range(-(2**63), 2**63)
"""What a database can hold."""
_WORDS = {"0": False, "false": False, "": False, "1": True, "true": True}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a request; *default* is `...` when it must be given."""

    name: str
    kind: type
    default: Any
    may_be_null: bool
    help: str = ""
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the argument."""
        name = _NAMES[self.kind]
        schema: dict[str, Any] = {"type": [name, "null"] if self.may_be_null else name}
        if self.kind is list:
            schema["items"] = {"type": "string"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.default not in (..., None):
            schema["default"] = self.default
        return schema

    def read(self, value: Any) -> Any:
        """Return *value* as an argument. Raises `Refused` if it is of another kind."""
        if value is None and self.may_be_null:
            return None
        is_right = isinstance(value, self.kind) and not (
            self.kind is int and isinstance(value, bool)
        )
        if self.kind is list and is_right:
            is_right = all(isinstance(item, str) for item in value)
        if not is_right:
            raise bad(f"{self.name} must be of type {_NAMES[self.kind]}")
        if self.choices and value not in self.choices:
            raise bad(f"{self.name} must be one of {', '.join(self.choices)}")
        if self.kind is int and value not in _INTEGERS:
            raise bad(f"{self.name} must have at most 64 bits")
        return value

    def read_text(self, text: str) -> Any:
        """Return *text*, as it stands in an address, as an argument."""
        if self.kind is bool and text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if self.kind is int and text.lstrip("-").isdecimal() and len(text) < 12:
            return int(text)
        return self.read(text)


@cache
def parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of *function* that a request gives: all that are annotated."""
    hints = get_type_hints(function, include_extras=True)
    return tuple(
        _parameter(name, hints[name], given.default)
        for name, given in inspect.signature(function).parameters.items()
        if name in hints
    )


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    help_ = ""
    if get_origin(hint) is Annotated:
        hint, help_ = get_args(hint)[:2]
    may_be_null = type(None) in get_args(hint)
    if may_be_null:
        hint = next(kind for kind in get_args(hint) if kind is not type(None))
    is_choice = get_origin(hint) is Literal
    kind = str if is_choice else get_origin(hint) or hint
    if default is inspect.Parameter.empty:
        default = ...
    choices = get_args(hint) if is_choice else ()
    return Parameter(name, kind, default, may_be_null, help_, choices)


def arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for *function* in *given*; what it does not know is passed over.

    Raises `Refused`.
    """
    found = {}
    for parameter in parameters(function):
        if parameter.name in given:
            found[parameter.name] = parameter.read(given[parameter.name])
        elif parameter.default is ...:
            raise bad(f"{parameter.name} is missing")
    return found
