"""JSON as models write it: a little wrong in ways that leave no doubt about what was meant."""

from __future__ import annotations

import json
import re
from typing import Any

from utils.text.strict_json import is_json, read_json

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")|(?P<quoted>'(?:[^'\\]|\\.)*'|[“”](?:[^“”\\]|\\.)*[“”])"""
    r"""|(?P<comment>//[^\n]*|/\*(?:.*?\*/|.*\Z))|(?P<word>\b(?:True|False|None)\b)""",
    re.DOTALL,
)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}


def read_lenient(text: str) -> Any:
    """Return the value of *text*, an object as a program other than a JSON writer has it.

    Allowed are raw line breaks in strings and commas before an end, comments, Python's words and
    quotes, typographic quotes around strings, a code fence and a byte order mark around it all.

    Nothing is closed that was left open: what was cut off raises `ValueError`, as all else does
    that is no JSON. Takes time linear in *text*.
    """
    text = text.removeprefix("\ufeff")
    if fence := _FENCE.fullmatch(text):
        text = fence[1]
    plain = _STRING_OR_COMMA.sub(
        lambda found: "" if found[0] == "," else found[0], _TOKEN.sub(_as_json, text)
    )
    return read_json(plain, strict=False)


def _as_json(found: re.Match[str]) -> str:
    """Return a string, comment or word as JSON has it."""
    if found["comment"]:
        return " "
    if found["word"]:
        return _WORDS[found["word"]]
    if found["string"]:
        return found["string"]
    inner = re.sub(r"\\.|\"", _in_double_quotes, found["quoted"][1:-1], flags=re.DOTALL)
    return f'"{inner}"'


def _in_double_quotes(found: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])


def whole_object(text: str) -> str:
    """Return *text*, mended if need be and without quotes around it, as the JSON of an object.

    Raises `ValueError` where that cannot be had.
    """
    value = read_json(text) if is_json(text) else read_lenient(text)
    if isinstance(value, str):  # an object put in quotes once too often
        return whole_object(value) if value.lstrip().startswith(("{", '"')) else _refused(value)
    if not isinstance(value, dict):
        return _refused(value)
    return text if is_json(text) else json.dumps(value, ensure_ascii=False)


def _refused(value: object) -> str:
    raise ValueError(f"{type(value).__name__} is no object")
