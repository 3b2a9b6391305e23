"""Calls written as a JSON value or a Python expression, whatever the keys are called."""

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
    "kwargs", "function_args", "function_arguments", "function_parameters", "tool_arguments",
    "tool_parameters",
)  # fmt: skip
_OTHER_KEYS = frozenset({"type", "id", "call_id", "tool_call_id", "index"})
_REMARK_KEYS = frozenset({"thought", "thoughts", "reasoning", "role", "content"})
"""What an object may say beside its call, as xLAM and others have it; no argument."""
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call as it was written; the name may be another spelling of a tool's."""

    name: str
    arguments: Mapping[str, Any]


def calls_of(value: Any, depth: int = 0) -> list[TextCall] | None:
    """Return the calls that a JSON value spells, None when it is something else.

    *depth* counts the lists and objects around it; no call stands deeper than `_MAX_DEPTH`.
    """
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, list):
        nested = [calls_of(item, depth + 1) for item in value]
        return [call for item in nested for call in item or ()] if nested and all(nested) else None
    if not isinstance(value, dict):
        return None
    for wrapper in ("tool_calls", "function_call", "tool_call", "function"):
        inner = value.get(wrapper)
        if isinstance(inner, dict | list) and value.keys() <= {
            wrapper,
            *_OTHER_KEYS,
            *_REMARK_KEYS,
        }:
            return calls_of(inner, depth + 1)
    call = _call_from_object(value) or _call_by_key(value)
    return [call] if call else None


def _call_by_key(value: Mapping[str, Any]) -> TextCall | None:
    """Return the call `{name: arguments}`, as Apertus has it."""
    name, arguments = next(iter(value.items())) if len(value) == 1 else ("", None)
    is_call = isinstance(arguments, dict) and re.fullmatch(r"[a-z]+_[a-z_]+", name)
    return TextCall(name, arguments) if isinstance(arguments, dict) and is_call else None


def _call_from_object(value: Mapping[str, Any]) -> TextCall | None:
    name_keys = [name for name in _NAMES if isinstance(value.get(name), str)]
    argument_keys = [name for name in _ARGUMENTS if name in value]
    if (
        len(name_keys) != 1
        or len(argument_keys) > 1
        or value.keys() - {*name_keys, *argument_keys, *_OTHER_KEYS, *_REMARK_KEYS}
    ):
        return None
    arguments = value[argument_keys[0]] if argument_keys else {}
    if isinstance(arguments, str):
        arguments = json_of(arguments)
    if not isinstance(arguments, dict) or not (argument_keys or value.keys() & _OTHER_KEYS):
        return None
    return TextCall(value[name_keys[0]], arguments)


def json_of(text: str) -> Any:
    """Return the JSON value that *text* is, as `json_at` reads it; None if none."""
    if text.startswith("{{"):
        value, end = json_at(text, 0)
        return None if text[end:].strip() else value
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        value, end = _repaired_at(text, len(text) - len(text.lstrip()))
        return None if text[end:].strip() else value


def json_at(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at *start*, white space aside, and its end; None where none is.

    Raw line breaks in strings are allowed, a comma before the end of an object or a list, and
    strings in three quotes.
    """
    while start < len(text) and text[start].isspace():
        start += 1
    if not text.startswith(("{", "["), start):  # an error would count the lines up to here
        return None, start
    is_doubled = text.startswith("{{", start)
    try:
        value, end = _DECODER.raw_decode(text, start + is_doubled)
    except (ValueError, RecursionError):
        return _repaired_at(text, start)
    if not is_doubled:
        return value, end
    closing = _BRACE.match(text, end)
    return (value, closing.end()) if closing else (None, start)


def _repaired_at(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at *start* with what `json_at` allows beyond JSON, and its end."""
    if not _END_COMMA.search(text, start) and text.find(_THREE_QUOTES, start) < 0:
        return None, start
    depth, pieces, position = 0, [], start
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if token[0] == "," or token["long"] is not None:
            pieces += [text[position : token.start()], _in_one_quote(token["long"])]
            position = token.end()
        if depth <= 0:
            break
    else:
        return None, start
    try:
        return _DECODER.decode("".join([*pieces, text[position : token.end()]])), token.end()
    except (ValueError, RecursionError):
        return None, start


def _in_one_quote(text: str | None) -> str:
    """Return the inside of three quotes as a JSON string, "" for None."""
    if text is None:
        return ""
    inner = re.sub(r'\\.|"', lambda one: '\\"' if one[0] == '"' else one[0], text, flags=re.DOTALL)
    return f'"{inner}"'


_END_COMMA = re.compile(r",\s*[}\]]")
_THREE_QUOTES = '"' * 3
_TOKEN = re.compile(
    r'"""(?P<long>(?:[^"\\]|\\.|"(?!""))*)"""|"(?:[^"\\]|\\.)*"|[{}\[\]]|,(?=\s*[}\]])', re.DOTALL
)
_BRACE = re.compile(r"\s*\}(?:\s*\}(?=\s*(?:\Z|```|</)))?")
"""End of an object in doubled braces, as in the chat template of Qwen2.5-Coder.

Who doubles the ends of the arguments as well, but not their begin, has one too many.
"""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of *pairs*. Raises `ValueError` if a name is there twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name is there twice: which value is meant?")
    return value


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_unique_keys, parse_constant=_reject_constant
)


def python_calls(code: str) -> list[TextCall] | None:
    """Return the calls that *code* is, one, a list or one a line; their arguments are constants.

    What they return may be given a name, and that be printed, as Gemma does it.
    """
    try:
        body = ast.parse(code.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes: list[ast.expr] = []
    results: set[str] = set()
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
                results.add(name)
                nodes.append(value)
            case ast.Expr(value=value):
                expression = _print_argument(value)
                if isinstance(expression, ast.Name) and expression.id in results:
                    continue
                if isinstance(expression, ast.List | ast.Tuple):
                    nodes += expression.elts
                else:
                    nodes.append(expression)
            case _:
                return None
    calls = [_python_call(node) for node in nodes]
    return [call for call in calls if call] if calls and all(calls) else None


def _print_argument(node: ast.expr) -> ast.expr:
    """Return what `print` is called with, as Gemma writes it, or *node* itself."""
    is_print = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    return node.args[0] if is_print and len(node.args) == 1 else node  # type: ignore[attr-defined]


def _python_call(node: ast.expr) -> TextCall | None:
    """Return the call `name(key=value)`, `name({…})` or `name.call(key=value)`."""
    if not isinstance(node, ast.Call) or not (name := _python_name(node.func)):
        return None
    try:
        keywords = {
            argument.arg: ast.literal_eval(argument.value)
            for argument in node.keywords
            if argument.arg
        }
        positional = [ast.literal_eval(argument) for argument in node.args]
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    if len(keywords) != len(node.keywords):
        return None
    if not positional:
        return TextCall(name, keywords)
    keys = node.args[0].keys if isinstance(node.args[0], ast.Dict) else []
    is_object = len(positional) == 1 and not keywords and 0 < len(keys) == len(positional[0])
    return TextCall(name, positional[0]) if is_object else None


def _python_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id == "default_api":  # Gemma's
            return node.attr
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
"""Placeholder for a value in an example."""


def has_no_placeholders(calls: Sequence[TextCall]) -> bool:
    """Return whether no argument is a mere placeholder, its own name or its type."""
    return not any(
        isinstance(value, str)
        and (_PLACEHOLDER.fullmatch(value.strip()) or value in (name, "string", "str"))
        for call in calls
        for name, value in call.arguments.items()
    )


_NUMBERED = re.compile(r"(?m)^[ \t]*\d+[│|:\t]")
_BLANK = re.compile(r"\s+|```\w*")


def is_quoted(calls: Sequence[TextCall], sources: Iterable[str]) -> bool:
    """Return whether one of *calls*, name and arguments, stands in one of *sources*."""
    wanted_calls = [(call.name, _name_in_call(call.name), _folded_values(call)) for call in calls]
    for text in sources:
        candidates = [(form, values) for name, form, values in wanted_calls if name in text]
        folded = _BLANK.sub("", _NUMBERED.sub("", text)) if candidates else ""
        for form, values in candidates:
            if form.search(folded) and all(
                any(value in folded for value in spellings) for spellings in values
            ):
                return True
    return False


def _name_in_call(name: str) -> re.Pattern[str]:
    """Return what *name* looks like in a call of any form, and not in a sentence."""
    return re.compile(rf"[\"'=<>.:始」\]|]{re.escape(name)}|{re.escape(name)}[(\[<]")


def _folded_values(call: TextCall) -> list[tuple[str, str]]:
    """Return the values of *call* as JSON and as other forms write them, without blanks."""
    spelled = ((json.dumps(value, ensure_ascii=False), value) for value in call.arguments.values())
    return [
        (_BLANK.sub("", text.strip('"')), _BLANK.sub("", str(value))) for text, value in spelled
    ]
