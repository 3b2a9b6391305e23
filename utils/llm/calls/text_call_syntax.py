"""The forms in which models write a call as text, each read whole or not at all.

Sources are the chat templates that models are published with: Hermes and Qwen (`<tool_call>`),
Qwen-Coder and Llama (`<function=…>`), GLM (`<arg_key>`), Claude (`<invoke>`), Mistral
(`[TOOL_CALLS]`), Kimi (`<|tool_call_begin|>`), DeepSeek (`leaked_calls`), gpt-oss (`<|channel|>`),
Granite and Phi (`<|tool_call|>`), Command-R (`<|START_ACTION|>`), InternLM (`<|action_start|>`),
Functionary (`>>>`), LFM (`<|tool_call_start|>`), FunctionGemma (`<start_function_call>`), VCP
(`<<<[TOOL_REQUEST]>>>`), and what models improvise: JSON, fenced or bare, Python, ReAct.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from utils.llm.calls.leaked_calls import MARKUP, calls_at
from utils.llm.calls.tagged_calls import (
    FUNCTION,
    INVOKE,
    WRAPPER,
    Block,
    Reader,
    calls_in,
    read_children,
    read_function,
    read_invoke,
    read_wrapped,
)
from utils.llm.calls.text_call_values import TextCall, calls_of, json_at, json_of, python_calls

_MOST_ENDS = 20
"""Places where a Python call may end; within a string there are more."""
_CALL_END = re.compile(r"\)\s*,?\s*\]|\)(?=[ \t]*(?:\n|\Z))")


def _bare(text: str, opening: re.Match[str]) -> Block:
    value, end = json_at(text, opening.start("json"))
    calls = calls_of(value)
    if calls is None and text[opening.start("json")] == "[":
        return _python(text, opening)
    return calls, end


_PYTHON_LIST = re.compile(r"\[\s*[A-Za-z_][\w.]*\(")


def _python(text: str, opening: re.Match[str]) -> Block:
    """Read `[name(key="value"), …]`, the calls of Llama 4 and of Python-minded models."""
    start = opening.start("json")
    if not _PYTHON_LIST.match(text, start):
        return None, start
    return _python_at(text, start)


def _python_at(text: str, start: int) -> Block:
    for found in islice(_CALL_END.finditer(text, start), _MOST_ENDS):
        if calls := python_calls(text[start : found.end()].rstrip(",")):
            return calls, found.end()
    return None, start


def _spoken(text: str, opening: re.Match[str]) -> Block:
    """Read `name(key="value")` or `name({…})` at the start of a line."""
    value, end = json_at(text, opening.end())
    if isinstance(value, dict) and (closing := re.compile(r"\s*\)").match(text, end)):
        return [TextCall(opening["name"], value)], closing.end()
    return _python_at(text, opening.start("name"))


def _fenced(text: str, opening: re.Match[str]) -> Block:
    closing = re.compile(rf"^[ \t]*{opening['fence']}`*[ \t]*$", re.MULTILINE)
    found = closing.search(text, opening.end())
    if found is None:
        return None, opening.end()
    body = text[opening.end() : found.start()].strip()
    calls = calls_in(body)
    if calls is None and opening["label"] == "tool_code":
        calls = python_calls(body)
    return calls, found.end()


def _mistral(text: str, opening: re.Match[str]) -> Block:
    value, end = json_at(text, opening.end())
    if (calls := calls_of(value)) is not None:
        return calls, end
    named = re.compile(r"\s*([\w.-]+)(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?=\{)").match(
        text, opening.end()
    )
    if named is None:
        return None, opening.end()
    value, end = json_at(text, named.end())
    return ([TextCall(named[1], value)] if isinstance(value, dict) else None), end


def _marked(text: str, opening: re.Match[str]) -> Block:
    """Read JSON or Python behind a marker; one that closes it may follow."""
    value, end = json_at(text, opening.end())
    calls = calls_of(value)
    if value is None:
        calls, end = _python_at(text, opening.end())
    closing = re.compile(r"\s*<\|/?(?:tool_call|end_of_tool|eom_id|eot_id|call)\|>").match(
        text, end
    )
    return calls, closing.end() if closing else end


_PAIRS = {
    "START_ACTION": "<|END_ACTION|>",
    "action_start": "<|action_end|>",
    "tool_call_start": "<|tool_call_end|>",
    "tools_prefix": "<|tools_suffix|>",
}


def _between(text: str, opening: re.Match[str]) -> Block:
    """Read JSON or Python between a marker and the one that has to close it."""
    closing = _PAIRS[opening["marker"]]
    end = text.find(closing, opening.end())
    body = text[opening.end() : max(end, opening.end())].strip()
    calls = calls_of(json_of(body)) or python_calls(body)
    return (calls, end + len(closing)) if end >= 0 else (None, opening.end())


def _kimi(text: str, opening: re.Match[str]) -> Block:
    call = re.compile(
        r"\s*<\|tool_call_begin\|>\s*([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>"
        r"(.*?)<\|tool_call_end\|>\s*",
        re.DOTALL,
    )
    calls = []
    position = opening.end()
    while found := call.match(text, position):
        value = json_of(found[2].strip())
        if not isinstance(value, dict):
            return None, position
        calls.append(TextCall(found[1], value))
        position = found.end()
    closing = "<|tool_calls_section_end|>"
    if not calls or not text.startswith(closing, position):
        return None, position
    return calls, position + len(closing)


def _harmony(text: str, opening: re.Match[str]) -> Block:
    value, end = json_at(text, opening.end())
    closing = re.compile(r"\s*<\|call\|>").match(text, end)
    if not isinstance(value, dict) or closing is None:
        return None, end
    return [TextCall(opening["name"] or opening["role"], value)], closing.end()


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


def _object(text: str, opening: re.Match[str]) -> Block:
    """Read the object of arguments behind a name."""
    value, end = json_at(text, opening.end())
    return ([TextCall(opening["name"], value)] if isinstance(value, dict) else None), end


def _action_list(text: str, opening: re.Match[str]) -> Block:
    """Read the fenced list behind Command-R's `Action:`."""
    value, end = json_at(text, opening.end())
    closing = re.compile(r"\s*```[ \t]*$", re.MULTILINE).match(text, end)
    return (calls_of(value), closing.end()) if closing else (None, opening.end())


def _vcp(text: str, opening: re.Match[str]) -> Block:
    closing = "<<<[END_TOOL_REQUEST]>>>"
    end = text.find(closing, opening.end())
    if end < 0:
        return None, opening.end()
    pair = re.compile(r"\s*(\w+)[:：]\s*「始」(.*?)「末」,?\s*", re.DOTALL)
    arguments: dict[str, Any] = {}
    position = opening.end()
    while found := pair.match(text, position, end):
        if found[1] in arguments or "「始」" in found[2]:
            return None, end
        arguments[found[1]] = found[2]
        position = found.end()
    name = arguments.pop("tool_name", "")
    return ([TextCall(name, arguments)], end + len(closing)) if position == end else (None, end)


def _deepseek(text: str, opening: re.Match[str]) -> Block:
    calls, end = calls_at(text, opening.start())
    if calls is None:
        return None, opening.end()
    return [TextCall(call.name, json_of(call.arguments)) for call in calls], end


def _only_named(text: str, opening: re.Match[str]) -> Block:  # noqa: ARG001 - it is a `Reader`
    """Read nothing: what begins so is a call in a form that has no end of its own."""
    return None, opening.end()


_START = r"(?:^|(?<=[:：]))[ \t]*"
"""Where forms stand that are words and brackets: at the start of a line, or behind a colon."""
_TO = r"to=(?:functions\.)?"

SYNTAXES: Sequence[tuple[re.Pattern[str], Reader]] = tuple(
    (re.compile(opening, re.MULTILINE), reader)
    for opening, reader in (
        (rf"<(?P<tag>{WRAPPER})>", read_wrapped),
        (r"<(?P<tag>tools)>(?=\s*\{+\s*\"name\":\s*\"[\w.-]+\",\s*\"arguments\")", read_wrapped),
        (FUNCTION, read_function),
        (INVOKE, read_invoke),
        (r"\[TOOL_CALLS\]", _mistral),
        (r"<\|(?:python_tag|tool_call)\|>|\bfunctools(?=\[)", _marked),
        (
            r"<\|(?P<marker>START_ACTION|action_start|tool_call_start|tools_prefix)\|>"
            r"(?:\s*<\|plugin\|>)?",
            _between,
        ),
        (r"<\|tool_calls_section_begin\|>", _kimi),
        (
            rf"(?:<\|start\|>assistant(?: {_TO}(?P<role>\w+))?)?<\|channel\|>commentary"
            rf"(?: {_TO}(?P<name>\w+))?[^<]*(?:<\|constrain\|>\w+)?<\|message\|>",
            _harmony,
        ),
        (r"<start_function_call>call:(?P<name>\w+)\{", _gemma),
        (r"<<<\[TOOL_REQUEST\]>>>", _vcp),
        (MARKUP, _deepseek),
        (
            r"^[ \t]*(?P<fence>```)(?P<label>json[5c]?|tool_calls?|tool_use|function_calls?|tools?"
            r"|function|action|)[ \t]*\n(?=\s*[{\[])",
            _fenced,
        ),
        (r"^[ \t]*(?P<fence>```)(?P<label>tool_code)[ \t]*\n", _fenced),
        (r"^Action:\s*```(?P<fence>)(?:json)?\s*(?=\[)", _action_list),
        (r"^Action:[ \t]*(?P<name>[\w.-]+)[ \t]*\nAction Input:[ \t]*(?=\{)", _object),
        (r"^>>>(?P<name>[\w.-]+)\n(?=\{)", _object),
        (r"<\|recipient\|>\s*(?P<name>[\w.-]+)\s*<\|content\|>\s*(?=\{)", _object),
        (r"^[ \t]*(?:tool|name|function|[Aa]ction):[ \t]*(?P<name>\w+)[ \t]*$", _only_named),
        (rf"{_START}(?P<json>[{{\[])", _bare),
        (rf"{_START}(?P<name>(?:\w+\.)?[a-z]+_[a-z_]+)\((?=[{{\w)\"'])", _spoken),
        (rf"{_START}<(?P<name>[a-z]+_[a-z_]+)>(?=\s*<[a-z_]+>)", read_children),
    )
)
"""Each form by what opens it, and what reads it from there."""
