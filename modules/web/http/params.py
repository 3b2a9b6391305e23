"""The arguments of a request, read by the signature of what answers it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from core.redaction import mapped
from modules.web.http.errors import bad
from utils.text.lines import whole

_NAMES = {
    str: "string",
    int: "integer",
    bool: "boolean",
    bytes: "binary",
    list: "array",
    dict: "object",
}
_INTEGER = re.compile("-?[0-9]{1,19}")
_WORDS = {"0": False, "false": False, "": False, "1": True, "true": True}


@dataclass(frozen=True, slots=True)
class Within:
    """The bounds of a number, or of how many characters a text has."""

    least: int
    most: int = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Header:
    """The header of the request that an argument is taken from."""

    name: str


@dataclass(frozen=True, slots=True)
class Exact:
    """Says of a text that nothing in it is to be mended: it is refused where it cannot be kept."""


STORABLE = Within(-(2**63))
"""What a database can hold: the bounds of a number that has no others."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a request; *default* is `...` when it must be given.

    *header* names the header that it stands in, "" for none.
    """

    name: str
    kind: type
    default: Any
    may_be_null: bool
    help: str = ""
    choices: tuple[str, ...] = ()
    bounds: Within | None = None
    header: str = ""
    is_exact: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the argument."""
        name = _NAMES[self.kind]
        schema: dict[str, Any] = {"type": [name, "null"] if self.may_be_null else name}
        if self.kind is list:
            schema["items"] = {"type": "string"}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.bounds:
            least, most = ("minimum", "maximum") if self.kind is int else ("minLength", "maxLength")
            schema |= {least: self.bounds.least, most: self.bounds.most}
        if self.default not in (..., None):
            schema["default"] = self.default
        return schema

    def read(self, value: Any) -> Any:
        """Return *value* as an argument, its texts without halves of characters unless exact.

        Raises `Refused` if it is of another kind.
        """
        if value is None and self.may_be_null:
            return None
        if self.kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON has one kind of numbers: 1.0 is 1
        is_right = isinstance(value, self.kind) and not (
            self.kind is int and isinstance(value, bool)
        )
        if self.kind is list and is_right:
            is_right = all(isinstance(item, str) for item in value)
        if not is_right:
            raise bad(f"{self.name} must be of type {_NAMES[self.kind]}")
        if self.choices and value not in self.choices:
            raise bad(f"{self.name} must be one of {', '.join(self.choices)}")
        if self.bounds:
            self._check(value, self.bounds)
        return value if self.is_exact else mapped(value, whole)

    def _check(self, value: Any, bounds: Within) -> None:
        what = "be" if self.kind is int else "have a length"
        if not bounds.least <= (value if self.kind is int else len(value)) <= bounds.most:
            raise bad(f"{self.name} must {what} from {bounds.least} to {bounds.most}")

    def read_text(self, text: str) -> Any:
        """Return *text*, as it stands in an address, as an argument."""
        if self.kind is bool and text.lower() in _WORDS:
            return _WORDS[text.lower()]
        is_number = self.kind is int and _INTEGER.fullmatch(text)
        return self.read(int(text) if is_number else text)


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
    hint, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    may_be_null = type(None) in get_args(hint)
    if may_be_null:
        hint = next(kind for kind in get_args(hint) if kind is not type(None))
    is_choice = get_origin(hint) is Literal
    kind = str if is_choice else get_origin(hint) or hint
    if default is inspect.Parameter.empty:
        default = ...
    choices = get_args(hint) if is_choice else ()
    bounds = next((n for n in notes if isinstance(n, Within)), STORABLE if kind is int else None)
    help_ = next((note for note in notes if isinstance(note, str)), "")
    header = next((note.name for note in notes if isinstance(note, Header)), "")
    is_exact = any(isinstance(note, Exact) for note in notes)
    return Parameter(name, kind, default, may_be_null, help_, choices, bounds, header, is_exact)


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
