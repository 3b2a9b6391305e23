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
_END_TOKEN = re.compile(r"(?:\s*(?:<\|\w{1,20}\|>|</\w{1,20}>))+\s*\Z")
_STRAY_END = re.compile(r"(?<=\})\s*[}\]]{1,2}\s*\Z")
_LABEL = re.compile(r"\A\s*json\s*(?=\{)", re.IGNORECASE)
_LITERALS = {"True": "true", "False": "false", "None": "null"}


def read_lenient(text: str) -> Any:
    """Return the value of *text*, an object as a program other than a JSON writer has it.

    Allowed are raw line breaks in strings and commas before an end, comments, Python's words and
    quotes, typographic quotes around strings, a code fence and a byte order mark around it all, and
    the model's end token or end tag behind it, and the word "json" before it.

    Nothing is closed that was left open: what was cut off raises `ValueError`, as all else does
    that is no JSON. Takes time linear in *text*.
    """
    text = _LABEL.sub("", _END_TOKEN.sub("", text.removeprefix("\ufeff")))
    if fence := _FENCE.fullmatch(text):
        text = fence[1]
    plain = _STRING_OR_COMMA.sub(
        lambda match: "" if match[0] == "," else match[0], _TOKEN.sub(_to_json, text)
    )
    return read_json(plain, strict=False)


def _to_json(match: re.Match[str]) -> str:
    """Return a string, comment or word as JSON has it."""
    if match["comment"]:
        return " "
    if match["word"]:
        return _LITERALS[match["word"]]
    if match["string"]:
        return match["string"]
    inner = re.sub(r"\\.|\"", _requote, match["quoted"][1:-1], flags=re.DOTALL)
    return f'"{inner}"'


def _requote(match: re.Match[str]) -> str:
    return {'"': '\\"', "\\'": "'"}.get(match[0], match[0])


def repair_object(text: str) -> str:
    """Return *text*, repaired if need be and without quotes or a list around it, as the JSON of an
    object.

    Raises `ValueError` where that cannot be had.
    """
    text = _without_stray_end(text)
    value = read_json(text) if is_json(text) else read_lenient(text)
    if isinstance(value, str):  # an object put in quotes once too often
        return (
            repair_object(value)
            if value.lstrip().startswith(("{", '"'))
            else _raise_no_object(value)
        )
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return json.dumps(value[0], ensure_ascii=False)
    if not isinstance(value, dict):
        return _raise_no_object(value)
    return text if is_json(text) else json.dumps(value, ensure_ascii=False)


def _without_stray_end(text: str) -> str:
    """Return *text* without brackets behind a whole object: those of what stood around it."""
    end = _STRAY_END.search(text)
    if end is None or is_json(text):
        return text
    return next((text[:at] for at in range(end.start(), end.end()) if is_json(text[:at])), text)


def _raise_no_object(value: object) -> str:
    raise ValueError(f"{type(value).__name__} is no object")
