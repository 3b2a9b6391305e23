"""JSON as models write it: a little wrong in ways that leave no doubt about what was meant."""

from __future__ import annotations

import json
import re
from typing import Any

from utils.strict_json import is_json, read_json

_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)


def read_lenient(text: str) -> Any:
    """Return the value of *text*, raw line breaks in strings and commas before an end allowed.

    Nothing is closed that was left open: what was cut off raises `ValueError`, as all else does
    that is no JSON. Takes time linear in *text*.
    """
    plain = _STRING_OR_COMMA.sub(lambda found: "" if found[0] == "," else found[0], text)
    return read_json(plain, strict=False)


def whole_object(text: str) -> str:
    """Return *text*, mended if need be and without quotes around it, as the JSON of an object.

    Raises `ValueError` where that cannot be had.
    """
    value = read_json(text) if is_json(text) else read_lenient(text)
    if isinstance(value, str):  # an object put in quotes once too often
        return whole_object(value) if value.lstrip().startswith("{") else _refused(value)
    if not isinstance(value, dict):
        return _refused(value)
    return text if is_json(text) else json.dumps(value, ensure_ascii=False)


def _refused(value: object) -> str:
    raise ValueError(f"{type(value).__name__} is no object")
