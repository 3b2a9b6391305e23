"""Front matter of a Markdown file: the few forms of YAML that such files use."""

from __future__ import annotations

import re
from collections.abc import Mapping

from utils.i18n import UserError, phrase

Value = str | tuple[str, ...]
_MARK = "---"
_KEY = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_BLOCK = re.compile(r"[|>][+-]?$")


def split_front_matter(text: str) -> tuple[Mapping[str, Value], str]:
    """Return what the front matter of *text* says, by key, and the text below it.

    Raises `UserError` that names the line which cannot be read.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != _MARK:
        return {}, text
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == _MARK), 0)
    if not end:
        raise UserError(phrase("its front matter has no second --- line"))
    values: dict[str, Value] = {}
    key = ""
    for number, line in enumerate(lines[1:end], 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if found := _KEY.match(line):
            key = found[1]
            values[key] = _value(found[2] or "")
        elif key and (item := _ITEM.match(line)):
            before = values[key]
            values[key] = (*(before if isinstance(before, tuple) else ()), _unquoted(item[1]))
        elif key and line[0] in " \t":
            values[key] = f"{values[key]} {line.strip()}".strip()
        else:
            raise UserError(phrase("line {n} of its front matter is not “key: value”", n=number))
    return values, "\n".join(lines[end + 1 :]).strip("\n")


def _value(text: str) -> Value:
    text = text.strip()
    if _BLOCK.match(text):
        return ""
    if text.startswith("[") and text.endswith("]") and "," in text:
        return tuple(_unquoted(part) for part in text[1:-1].split(",") if part.strip())
    return _unquoted(text)


def _unquoted(text: str) -> str:
    text = text.strip()
    for mark in ("'", '"'):
        if len(text) > 1 and text.startswith(mark) and text.endswith(mark):
            return text[1:-1]
    return text.partition(" #")[0].rstrip()
