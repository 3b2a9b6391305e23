"""JSON from a model or a server: what is no JSON, by the letter or by its depth, is refused."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


# `json.loads` would make a decoder for each of the thousands of events of a stream.
_STRICT = json.JSONDecoder(parse_constant=_reject_constant)
_LENIENT = json.JSONDecoder(parse_constant=_reject_constant, strict=False)


def read_json(text: str | bytes, *, strict: bool = True) -> Any:
    """Return the value that *text* spells; not *strict*, strings may hold raw line breaks.

    Raises `ValueError`, also for `NaN` and `Infinity`, which only Python reads, and for what is
    nested too deep to be meant.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    try:
        return (_STRICT if strict else _LENIENT).decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def is_object(text: str) -> bool:
    """Return whether *text* is the JSON of an object."""
    try:
        return isinstance(read_json(text), dict)
    except ValueError:
        return False


def is_json(text: str) -> bool:
    """Return whether `read_json` takes *text*."""
    try:
        read_json(text)
    except ValueError:
        return False
    return True
