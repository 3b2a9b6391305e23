"""Calls between tags, as models write them in text: wrapped in one, or made of them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import Any

from utils.llm.calls.text_call_values import TextCall, calls_of, json_at, json_of, python_calls

Block = tuple[list[TextCall] | None, int]
"""The calls of one block, None where it is no whole one, and where it ends."""
Reader = Callable[[str, re.Match[str]], Block]

_MOST_CLOSINGS = 20
"""Closing tags that may be the one; within a string there are more."""


def read_wrapped(text: str, opening: re.Match[str]) -> Block:
    """Read `<tag>…</tag>` around any form: a string in it may hold the tag as well."""
    closing = f"</{opening['tag']}>"
    end = text.find(closing, opening.end())
    for _ in range(_MOST_CLOSINGS):
        if end < 0:
            break
        if calls := _body(text[opening.end() : end].strip()):
            return calls, end + len(closing)
        end = text.find(closing, end + 1)
    return None, opening.end()


def _body(body: str) -> list[TextCall] | None:
    """Return the calls that the inside of a wrapper is."""
    if (calls := calls_of(json_of(body))) is not None:
        return calls
    for form, read in _WRAPPER_FORMS:
        if match := form.fullmatch(body):
            return read(match)
    return _inner_tag_calls(body) or calls_in(body)


def calls_in(body: str) -> list[TextCall] | None:
    """Return the calls of the JSON values that *body* is made of, one behind the other."""
    calls: list[TextCall] = []
    position = 0
    while position < len(body):
        value, end = json_at(body, position)
        some = calls_of(value)
        if some is None:
            return None
        calls += some
        gap = _GAP.match(body, end)
        position = gap.end() if gap else end
    return calls or None


_GAP = re.compile(r"[\s,;]*")


def _inner_tag_calls(body: str) -> list[TextCall] | None:
    calls: list[TextCall] = []
    position = 0
    while inner := _INNER.match(body, position):
        new_calls, position = _READERS_WITHIN[inner.lastgroup or ""](body, inner)
        if new_calls is None:
            return None
        calls += new_calls
    return calls if calls and not body[position:].strip() else None


def _read_glm(match: re.Match[str]) -> list[TextCall] | None:
    pairs = _GLM_ARGUMENT.findall(match["pairs"])
    arguments = {key: _tag_text(value) for key, value in pairs}
    is_whole = len(arguments) == len(pairs) and not any(
        "<arg_" in argument for argument in arguments.values()
    )
    return [TextCall(match["name"], arguments)] if is_whole else None


def _named(match: re.Match[str]) -> list[TextCall] | None:
    value = json_of(match["json"])
    return [TextCall(match["name"], value)] if isinstance(value, dict) else None


_GLM_ARGUMENT = re.compile(
    r"<(?:\w+_)?arg_key>\s*(.*?)\s*</(?:\w+_)?arg_key>\s*"
    r"<(?:\w+_)?arg_value>\n?(.*?)\n?</(?:\w+_)?arg_value>",
    re.DOTALL,
)
_WRAPPER_FORMS: Sequence[
    tuple[re.Pattern[str], Callable[[re.Match[str]], list[TextCall] | None]]
] = (
    (
        re.compile(
            rf"(?P<name>[\w.-]+)\s*(?P<pairs>(?:{_GLM_ARGUMENT.pattern}\s*)+)".replace(
                "(.*?)", "(?:.*?)"
            ),
            re.DOTALL,
        ),
        _read_glm,
    ),
    (re.compile(r"(?P<name>[\w.-]+)\s*(?P<json>\{.*\})", re.DOTALL), _named),
    (re.compile(r"(?P<name>[\w.-]+)\s*```(?:json)?\s*(?P<json>\{.*\})\s*```", re.DOTALL), _named),
    (
        re.compile(
            r"<(?P<title>(?:tool_)?name)>\s*(?P<name>[\w.-]+)\s*</(?P=title)>"
            r"\s*<(?P<tag>arguments|parameters|input)>"
            r"\s*(?P<json>\{.*\})\s*</(?P=tag)>",
            re.DOTALL,
        ),
        _named,
    ),
    (
        re.compile(r"```(?:json)?\s*\n(?P<json>.*)\n\s*```", re.DOTALL),
        lambda found: calls_of(json_of(found["json"])),
    ),
    (
        re.compile(r"\[?\s*[A-Za-z_][\w.]*\(.*\)\s*\]?", re.DOTALL),
        lambda found: python_calls(found[0]),
    ),
)
"""What a wrapper may hold beside JSON and tags."""

WRAPPER = (
    r"(?:\w{1,20}[:_])?tool_?calls?|(?:\w{1,20}:)?function_?calls?|TOOLCALL"
    r"|tool_use|tool_request|tool_code"
)
FUNCTION = r"<function(?:=|\s+name\s*=\s*)[\"']?(?P<function>[\w.:-]+)[\"']?>"
INVOKE = r"<(?P<space>\w{1,20}:)?invoke name=[\"'](?P<name>[\w.:-]+)[\"']>"
_INNER = re.compile(
    rf"\s*(?:(?P<wrapper><(?P<tag>{WRAPPER})>)|{FUNCTION}(?P<is_function>)|{INVOKE}(?P<is_invoke>))\s*"
)
_PARAMETER = re.compile(r"\s*<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>\s*", re.DOTALL)
_NAMED_PARAMETER = re.compile(
    r"\s*<(?:\w{1,20}:)?parameter name=[\"']([\w.-]+)[\"'][^>]*>\n?(.*?)\n?"
    r"</(?:\w{1,20}:)?parameter>\s*",
    re.DOTALL,
)
_TAG_IN_VALUE = re.compile(
    r"</?(?:\w{1,20}:)?(?:parameter(?!s\b)|invoke\b|function\b[=>])|</?(?:\w{1,20}[:_])?tool_?calls?>"
)
"""What a value holds where the end of a parameter is missing."""


def read_function(text: str, opening: re.Match[str]) -> Block:
    """Read `<function=name>` with parameters as tags, or as one JSON object."""
    parameter = _PARAMETER if text.find("<parameter name", opening.end()) < 0 else _NAMED_PARAMETER
    calls, end = _read_parameters(
        text, opening.end(), opening["function"], parameter, "</function>"
    )
    stray = _STRAY.match(text, end) if calls else None
    return calls, stray.end() if stray else end


_STRAY = re.compile(r"\s*</tool_call>")
"""The end of a wrapper whose begin Qwen-Coder forgot."""


def read_invoke(text: str, opening: re.Match[str]) -> Block:
    closing = f"</{opening['space'] or ''}invoke>"
    return _read_parameters(text, opening.end(), opening["name"], _NAMED_PARAMETER, closing)


_READERS_WITHIN: dict[str, Reader] = {
    "tag": read_wrapped,
    "wrapper": read_wrapped,
    "is_function": read_function,
    "is_invoke": read_invoke,
}


def _read_parameters(
    text: str, position: int, name: str, parameter: re.Pattern[str], closing: str
) -> Block:
    arguments: dict[str, Any] = {}
    while match := parameter.match(text, position):
        if match[1] in arguments or _TAG_IN_VALUE.search(match[2]):
            return None, position
        arguments[match[1]] = _tag_text(match[2])
        position = match.end()
    if not arguments:
        value, end = json_at(text, position)
        if isinstance(value, dict):
            arguments, position = value, end
    ending = re.compile(rf"\s*{closing}").match(text, position)
    return ([TextCall(name, arguments)], ending.end()) if ending else (None, position)


_CDATA = re.compile(r"\s*<!\[CDATA\[(.*)\]\]>\s*", re.DOTALL)


def _tag_text(value: str) -> str:
    """Return what is meant with the text of a tag: as it stands, without CDATA around it.

    Entities count where a text has no bare `<` or `>`: who escapes some escapes all.
    """
    if match := _CDATA.fullmatch(value):
        return match[1]
    is_escaped = ("&lt;" in value or "&gt;" in value) and not re.search("[<>]", value)
    return html.unescape(value) if is_escaped else value


def read_children(text: str, opening: re.Match[str]) -> Block:
    """Read a tag that is a tool, its children the arguments, as Cline and Roo have it."""
    closing = f"</{opening['name']}>"
    end = text.find(closing, opening.end())
    if end < 0:
        return None, opening.end()
    body = text[opening.end() : end]
    arguments = None if opening[0] in body else _children(body)
    return ([TextCall(opening["name"], arguments)] if arguments else None), end + len(closing)


def read_shell(text: str, opening: re.Match[str]) -> Block:
    """Read a tag whose inside is a command, as agents of shells have it."""
    closing = f"</{opening['shell']}>"
    end = text.find(closing, opening.end())
    body = text[opening.end() : end].strip() if end >= 0 else ""
    if not body or opening[0].strip() in body or text.count(closing, end) > 1:
        return None, opening.end()
    return [TextCall(opening["shell"], {"command": _tag_text(body)})], end + len(closing)


def read_attributed(text: str, opening: re.Match[str]) -> Block:
    """Read `<tool name="…">` around an object, or around tags that are the arguments."""
    closing = f"</{opening['tag']}>"
    end = text.find(closing, opening.end())
    if end < 0:
        return None, opening.end()
    body = text[opening.end() : end].strip()
    arguments = json_of(body) if body.startswith("{") else _children(body)
    if not isinstance(arguments, dict) or not arguments:
        return None, end
    return [TextCall(opening["name"], arguments)], end + len(closing)


_CHILD = re.compile(r"\s*<([a-z_]+)>\n?(.*?)\n?</\1>\s*", re.DOTALL)


def _children(body: str) -> dict[str, str] | None:
    """Return the arguments that *body* holds as tags, None where it holds anything else."""
    arguments: dict[str, str] = {}
    position = 0
    while found := _CHILD.match(body, position):
        if found[1] in arguments:
            return None
        arguments[found[1]] = _tag_text(found[2])
        position = found.end()
    return arguments if position == len(body) else None
