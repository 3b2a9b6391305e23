"""The calls that a JSON value or a Python expression spells, whatever its parts are called."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

_NAMES = ("name", "tool", "tool_name", "function_name", "function", "action")
_ARGUMENTS = (
    "arguments", "parameters", "args", "input", "params", "tool_input", "tool_args", "action_input",
    "kwargs",
)  # fmt: skip
_BESIDE = frozenset({"type", "id", "call_id", "tool_call_id", "index"})
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call as it was written; the name may be another spelling of a tool's."""

    name: str
    arguments: Mapping[str, Any]


def calls_of(value: Any, depth: int = 0) -> list[TextCall] | None:
    """Return the calls that a JSON value spells, None when it is something else.

    *depth* counts the lists and objects around it; no call stands deeper than `_DEEPEST`.
    """
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        found = [calls_of(one, depth + 1) for one in value]
        return [call for one in found for call in one or ()] if found and all(found) else None
    if not isinstance(value, dict):
        return None
    for wrapper in ("tool_calls", "function_call", "tool_call", "function"):
        inner = value.get(wrapper)
        if isinstance(inner, dict | list) and value.keys() <= {wrapper, *_BESIDE}:
            return calls_of(inner, depth + 1)
    call = _call(value)
    return [call] if call else None


def _call(value: Mapping[str, Any]) -> TextCall | None:
    named = [name for name in _NAMES if isinstance(value.get(name), str)]
    given = [name for name in _ARGUMENTS if name in value]
    if len(named) != 1 or len(given) > 1 or value.keys() - {*named, *given, *_BESIDE}:
        return None
    arguments = value[given[0]] if given else {}
    if isinstance(arguments, str):
        arguments = json_of(arguments)
    if not isinstance(arguments, dict) or not (given or value.keys() & _BESIDE):
        return None
    return TextCall(value[named[0]], arguments)


def json_of(text: str) -> Any:
    """Return the JSON value that *text* is, raw line breaks in strings allowed; None if none."""
    if text.startswith("{{"):
        value, end = json_at(text, 0)
        return None if text[end:].strip() else value
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def json_at(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at *start*, white space aside, and its end; None where none is."""
    while start < len(text) and text[start].isspace():
        start += 1
    if not text.startswith(("{", "["), start):  # an error would count the lines up to here
        return None, start
    is_doubled = text.startswith("{{", start)
    try:
        value, end = _DECODER.raw_decode(text, start + is_doubled)
    except (ValueError, RecursionError):
        return None, start
    if not is_doubled:
        return value, end
    closing = _BRACE.match(text, end)
    return (value, closing.end()) if closing else (None, start)


_BRACE = re.compile(r"\s*\}")
"""What ends an object in doubled braces: so the chat template of Qwen2.5-Coder shows a call."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of *pairs*. Raises `ValueError` if a name is there twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name is there twice: which value is meant?")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_once, parse_constant=_no_number)


def python_calls(code: str) -> list[TextCall] | None:
    """Return the calls that *code* is, one, a list or one a line; their arguments are constants."""
    try:
        body = ast.parse(code.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes: list[ast.expr] = []
    for statement in body:
        if not isinstance(statement, ast.Expr):
            return None
        one = _printed(statement.value)
        nodes += one.elts if isinstance(one, ast.List | ast.Tuple) else [one]
    calls = [_python_call(node) for node in nodes]
    return [call for call in calls if call] if calls and all(calls) else None


def _printed(node: ast.expr) -> ast.expr:
    """Return what `print` is called with, as Gemma writes it, or *node* itself."""
    is_print = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    return node.args[0] if is_print and len(node.args) == 1 else node  # type: ignore[attr-defined]


def _python_call(node: ast.expr) -> TextCall | None:
    """Return the call `name(key=value)`, `name({…})` or `name.call(key=value)`."""
    if not isinstance(node, ast.Call) or not (name := _python_name(node.func)):
        return None
    try:
        given = {one.arg: ast.literal_eval(one.value) for one in node.keywords if one.arg}
        placed = [ast.literal_eval(one) for one in node.args]
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    if len(given) != len(node.keywords):
        return None
    if not placed:
        return TextCall(name, given)
    keys = node.args[0].keys if isinstance(node.args[0], ast.Dict) else []
    is_object = len(placed) == 1 and not given and 0 < len(keys) == len(placed[0])
    return TextCall(name, placed[0]) if is_object else None


def _python_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id if node.attr == "call" else f"{node.value.id}.{node.attr}"
    return ""


_PLACEHOLDER = re.compile(
    r"(?:(?:#|//|--)\s*)?(?:\.{2,}|…+|(?:\.?/)?path/to/.*|/?your[_ -]\w[\w .-]*"
    r"|<[\w .:/|-]+>|\{\{?[\w .-]{3,}\}?\}"
    r"|\[[A-Za-z_ ]{4,}\]|\$\{?[A-Z_]+\}?|x{3,}"
    r"|(?:(?:FILE|FOLDER|DIR|PATH|NAME|CONTENT|CODE|COMMAND|TEXT|STRING|VALUE|NEW|OLD|HERE)_?)+"
    r"|(?:the |your )?(?:file|folder|new|full|actual|the)[ _](?:content|path|code|text|name)s?"
    r"(?: of the file| here| goes here)?|.{0,20}\b(?:goes here|placeholder)\W*"
    r"|(?:\w+ ){0,3}(?:content|code|text) here\W*|文件(?:路径|内容|名)|你的.{1,8})",
    re.DOTALL,
)
"""What stands for a value in an example."""


def is_filled_in(calls: Sequence[TextCall]) -> bool:
    """Return whether no argument is a mere placeholder, its own name or its type."""
    return not any(
        isinstance(value, str)
        and (_PLACEHOLDER.fullmatch(value.strip()) or value in (name, "string", "str"))
        for call in calls
        for name, value in call.arguments.items()
    )


_NUMBERED = re.compile(r"(?m)^[ \t]*\d+[│|:\t]")
_BLANK = re.compile(r"\s+|```\w*")


def is_copied(calls: Sequence[TextCall], heard: Iterable[str]) -> bool:
    """Return whether one of *calls*, name and arguments, stands in what was *heard*."""
    wanted = [(call.name, _form_of_name(call.name), _forms(call)) for call in calls]
    for text in heard:
        near = [(form, values) for name, form, values in wanted if name in text]
        folded = _BLANK.sub("", _NUMBERED.sub("", text)) if near else ""
        for form, values in near:
            if form.search(folded) and all(value in folded for value in values):
                return True
    return False


def _form_of_name(name: str) -> re.Pattern[str]:
    """Return what *name* looks like in a call of any form, and not in a sentence."""
    return re.compile(rf"[\"'=<>.:始\]|]{re.escape(name)}|{re.escape(name)}[(\[<]")


def _forms(call: TextCall) -> list[str]:
    """Return the values of *call* as JSON and other forms write them, without blanks."""
    return [
        _BLANK.sub("", json.dumps(value, ensure_ascii=False).strip('"'))
        for value in call.arguments.values()
    ]
