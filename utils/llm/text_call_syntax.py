"""The forms in which models write a call as text, each read whole or not at all.

Sources are the chat templates that models are published with: Hermes and Qwen (`<tool_call>`),
Qwen-Coder and Llama (`<function=…>`), GLM (`<arg_key>`), Claude (`<invoke>`), Mistral
(`[TOOL_CALLS]`), Kimi (`<|tool_call_begin|>`), gpt-oss (`<|channel|>`), FunctionGemma
(`<start_function_call>`), and what models improvise: JSON, fenced or bare, Python, ReAct.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

_NAMES = ("name", "tool", "tool_name", "function_name", "function", "action")
_ARGUMENTS = (
    "arguments", "parameters", "args", "input", "params", "tool_input", "tool_args", "action_input",
)  # fmt: skip
_BESIDE = frozenset({"type", "id", "call_id", "index"})
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call as it was written; the name may be another spelling of a tool's."""

    name: str
    arguments: Mapping[str, Any]


Block = tuple[list[TextCall] | None, int]
"""The calls of one block, None where it is no whole one, and where it ends."""
Reader = Callable[[str, re.Match[str]], Block]


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
        arguments = _json_of(arguments)
    if not isinstance(arguments, dict) or not (given or value.keys() & _BESIDE):
        return None
    return TextCall(value[named[0]], arguments)


def _json_of(text: str) -> Any:
    """Return the JSON value that *text* is, a little wrong or not; None if it is none."""
    if text.startswith("{{"):
        value, end = _json_at(text, 0)
        return None if text[end:].strip() else value
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of *pairs*. Raises `ValueError` if a name is there twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a name is there twice: which value is meant?")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_once, parse_constant=_no_number)


def _json_at(text: str, start: int) -> tuple[Any, int]:
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


def _bare(text: str, opening: re.Match[str]) -> Block:
    value, end = _json_at(text, opening.start("json"))
    calls = calls_of(value)
    if calls is None and text[opening.start("json")] == "[":
        return _python(text, opening)
    return calls, end


def _fenced(text: str, opening: re.Match[str]) -> Block:
    closing = re.compile(rf"^[ \t]*{opening['fence']}`*[ \t]*$", re.MULTILINE)
    found = closing.search(text, opening.end())
    if found is None:
        return None, opening.end()
    body = text[opening.end() : found.start()].strip()
    calls = _calls_in(body)
    if calls is None and opening["label"] == "tool_code":
        calls = _python_calls(re.sub(r"^print\((.*)\)$", r"\1", body, flags=re.DOTALL))
    return calls, found.end()


def _calls_in(body: str) -> list[TextCall] | None:
    """Return the calls of the JSON values that *body* is made of, one behind the other."""
    calls: list[TextCall] = []
    position = 0
    while position < len(body):
        value, end = _json_at(body, position)
        some = calls_of(value)
        if some is None:
            return None
        calls += some
        gap = _GAP.match(body, end)
        position = gap.end() if gap else end
    return calls or None


_GAP = re.compile(r"[\s,;]*")


def _wrapped(text: str, opening: re.Match[str]) -> Block:
    """Read `<tag>…</tag>` around JSON, or around one of the tag forms."""
    closing = f"</{opening['tag']}>"
    end = text.find(closing, opening.end())
    if end < 0:
        return None, opening.end()
    body = text[opening.end() : end].strip()
    return _body(body), end + len(closing)


def _body(body: str) -> list[TextCall] | None:
    if (calls := _calls_in(body)) is not None:
        return calls
    if found := _GLM.fullmatch(body):
        return [TextCall(found["name"].strip(), dict(_GLM_ARGUMENT.findall(found["pairs"])))]
    calls = []
    position = 0
    while position < len(body):
        inner = _INNER.match(body, position)
        if inner is None:
            return None
        reader = _function if inner["function"] else _invoke
        some, position = reader(body, inner)
        if some is None:
            return None
        calls += some
        position += len(body[position:]) - len(body[position:].lstrip())
    return calls or None


_GLM_ARGUMENT = re.compile(
    r"<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>\n?(.*?)\n?</arg_value>", re.DOTALL
)
_GLM = re.compile(
    r"(?P<name>[\w.-]+)\s*(?P<pairs>(?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)+)",
    re.DOTALL,
)
_INNER = re.compile(r"<function=(?P<function>[\w.-]+)>|<invoke name=\"(?P<name>[\w.-]+)\">")
_PARAMETER = re.compile(r"\s*<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>\s*", re.DOTALL)
_NAMED_PARAMETER = re.compile(
    r"\s*<parameter name=\"([\w.-]+)\"[^>]*>\n?(.*?)\n?</parameter>\s*", re.DOTALL
)


_INSIDE = re.compile(r"<parameter(?:=| name=)|<function=[\w.-]+>|<invoke name=")
"""What a value holds where the end of a parameter is missing."""


def _function(text: str, opening: re.Match[str]) -> Block:
    """Read `<function=name>` with parameters as tags, or as one JSON object."""
    return _tagged(text, opening, opening["function"], _PARAMETER, "</function>")


def _invoke(text: str, opening: re.Match[str]) -> Block:
    return _tagged(text, opening, opening["name"], _NAMED_PARAMETER, "</invoke>")


def _tagged(
    text: str, opening: re.Match[str], name: str, parameter: re.Pattern[str], closing: str
) -> Block:
    arguments: dict[str, Any] = {}
    position = opening.end()
    while found := parameter.match(text, position):
        if found[1] in arguments or _INSIDE.search(found[2]):
            return None, position
        arguments[found[1]] = found[2]
        position = found.end()
    if not arguments:
        value, end = _json_at(text, position)
        if isinstance(value, dict):
            arguments, position = value, end
    ending = re.compile(rf"\s*{closing}").match(text, position)
    return ([TextCall(name, arguments)], ending.end()) if ending else (None, position)


def _children(text: str, opening: re.Match[str]) -> Block:
    """Read a tag that is a tool, its children the arguments, as Cline and Roo have it."""
    closing = f"</{opening['name']}>"
    end = text.find(closing, opening.end())
    if end < 0:
        return None, opening.end()
    body = text[opening.end() : end]
    child = re.compile(r"\s*<([a-z_]+)>\n?(.*?)\n?</\1>\s*", re.DOTALL)
    arguments: dict[str, Any] = {}
    position = 0
    while found := child.match(body, position):
        if found[1] in arguments or opening[0] in found[2]:
            return None, end
        arguments[found[1]] = found[2]
        position = found.end()
    if body[position:].strip() or not arguments:
        return None, end
    return [TextCall(opening["name"], arguments)], end + len(closing)


def _mistral(text: str, opening: re.Match[str]) -> Block:
    value, end = _json_at(text, opening.end())
    if (calls := calls_of(value)) is not None:
        return calls, end
    named = re.compile(r"\s*([\w.-]+)(?:\[ARGS\])?\s*(?=\{)").match(text, opening.end())
    if named is None:
        return None, opening.end()
    value, end = _json_at(text, named.end())
    return ([TextCall(named[1], value)] if isinstance(value, dict) else None), end


def _marked(text: str, opening: re.Match[str]) -> Block:
    """Read JSON behind a marker; one that closes it may follow."""
    value, end = _json_at(text, opening.end())
    closing = re.compile(r"\s*<\|/?(?:tool_call|end_of_tool|eom_id|eot_id|call)\|>").match(
        text, end
    )
    return calls_of(value), closing.end() if closing else end


def _kimi(text: str, opening: re.Match[str]) -> Block:
    call = re.compile(
        r"\s*<\|tool_call_begin\|>\s*([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>"
        r"(.*?)<\|tool_call_end\|>\s*",
        re.DOTALL,
    )
    calls = []
    position = opening.end()
    while found := call.match(text, position):
        value = _json_of(found[2])
        if not isinstance(value, dict):
            return None, position
        calls.append(TextCall(found[1], value))
        position = found.end()
    closing = "<|tool_calls_section_end|>"
    if not calls or not text.startswith(closing, position):
        return None, position
    return calls, position + len(closing)


def _harmony(text: str, opening: re.Match[str]) -> Block:
    value, end = _json_at(text, opening.end())
    closing = re.compile(r"\s*<\|call\|>").match(text, end)
    if not isinstance(value, dict) or closing is None:
        return None, end
    return [TextCall(opening["name"], value)], closing.end()


def _gemma(text: str, opening: re.Match[str]) -> Block:
    body = re.compile(r"(.*?)\}<end_function_call>", re.DOTALL).match(text, opening.end())
    if body is None:
        return None, opening.end()
    pair = re.compile(r"\s*([\w.-]+):(?:<escape>(.*?)<escape>|([^,<]*))\s*(?:,|\Z)", re.DOTALL)
    arguments: dict[str, Any] = {}
    position = 0
    while position < len(body[1]):
        found = pair.match(body[1], position)
        if found is None or found.end() == position:
            return None, opening.end()
        arguments[found[1]] = found[3] if found[2] is None else found[2]
        position = found.end()
    return [TextCall(opening["name"], arguments)], body.end()


def _react(text: str, opening: re.Match[str]) -> Block:
    value, end = _json_at(text, opening.end())
    return ([TextCall(opening["name"], value)] if isinstance(value, dict) else None), end


def _python(text: str, opening: re.Match[str]) -> Block:
    """Read `[name(key="value"), …]`, the calls of Llama 4 and of Python-minded models."""
    start = opening.start("json")
    if not _PYTHON_LIST.match(text, start):
        return None, start
    for found in islice(_LIST_END.finditer(text, start), _MOST_ENDS):
        if calls := _python_calls(text[start : found.end()]):
            return calls, found.end()
    return None, start


_PYTHON_LIST = re.compile(r"\[\s*[A-Za-z_]\w*\(")
_LIST_END = re.compile(r"\)\s*,?\s*\]")
_MOST_ENDS = 20
"""Places where a list may end; within a string there are more."""


def _python_calls(code: str) -> list[TextCall] | None:
    try:
        tree = ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = tree.elts if isinstance(tree, ast.List) else [tree]
    calls = [_python_call(node) for node in nodes]
    return [call for call in calls if call] if calls and all(calls) else None


def _python_call(node: ast.expr) -> TextCall | None:
    if not isinstance(node, ast.Call) or node.args or not isinstance(node.func, ast.Name):
        return None
    try:
        given = {one.arg: ast.literal_eval(one.value) for one in node.keywords if one.arg}
    except (ValueError, TypeError, MemoryError):
        return None
    return TextCall(node.func.id, given) if len(given) == len(node.keywords) else None


_WRAPPERS = "tool_call|tool_calls|function_call|function_calls|functioncall|minimax:tool_call"

SYNTAXES: Sequence[tuple[re.Pattern[str], Reader]] = tuple(
    (re.compile(opening, re.MULTILINE), reader)
    for opening, reader in (
        (rf"<(?P<tag>{_WRAPPERS})>", _wrapped),
        (r"<(?P<tag>tools)>(?=\s*\{+\s*\"name\":\s*\"[\w.-]+\",\s*\"arguments\")", _wrapped),
        (r"<function=(?P<function>[\w.-]+)>", _function),
        (r"<invoke name=\"(?P<name>[\w.-]+)\">", _invoke),
        (r"\[TOOL_CALLS\]", _mistral),
        (r"<\|(?:python_tag|tool_call)\|>|\bfunctools(?=\[)", _marked),
        (r"<\|tool_calls_section_begin\|>", _kimi),
        (
            r"(?:<\|start\|>assistant)?<\|channel\|>commentary to=(?:functions\.)?(?P<name>\w+)"
            r"[^<]*(?:<\|constrain\|>\w+)?<\|message\|>",
            _harmony,
        ),
        (r"<start_function_call>call:(?P<name>\w+)\{", _gemma),
        (r"^[ \t]*(?P<fence>```)(?P<label>json|tool_call|tool|)[ \t]*\n(?=\s*[{\[])", _fenced),
        (r"^[ \t]*(?P<fence>```)(?P<label>tool_code)[ \t]*\n", _fenced),
        (r"^Action:[ \t]*(?P<name>[\w.-]+)[ \t]*\nAction Input:[ \t]*(?=\{)", _react),
        (r"^[ \t]*(?P<json>[{\[])", _bare),
        (r"^<(?P<name>[a-z]+_[a-z_]+)>(?=\s*<[a-z_]+>)", _children),
    )
)
"""Each form by what opens it, and what reads it from there."""
