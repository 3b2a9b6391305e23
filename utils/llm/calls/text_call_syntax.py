"""The forms in which models write a call as text, each read whole or not at all.

Sources are the chat templates that models are published with: Hermes and Qwen (`<tool_call>`),
Qwen-Coder and Llama (`<function=…>`), GLM (`<arg_key>`), Claude (`<invoke>`), Mistral
(`[TOOL_CALLS]`), Kimi (`<|tool_call_begin|>`), DeepSeek (`leaked_calls`), gpt-oss (`<|channel|>`),
Granite and Phi (`<|tool_call|>`), Command-R (`<|START_ACTION|>`), InternLM (`<|action_start|>`),
Functionary (`>>>`), LFM (`<|tool_call_start|>`), Gemma (`<start_function_call>`, `<|tool_call>`),
VCP (`<<<[TOOL_REQUEST]>>>`), and what models improvise: JSON, fenced or bare, Python, ReAct.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from utils.llm.calls.labelled_calls import LABELLED
from utils.llm.calls.leaked_calls import MARKUP, calls_at
from utils.llm.calls.tagged_calls import (
    FUNCTION,
    INVOKE,
    WRAPPER,
    Block,
    Reader,
    calls_in,
    read_attributed,
    read_children,
    read_function,
    read_invoke,
    read_shell,
    read_wrapped,
)
from utils.llm.calls.text_call_values import TextCall, calls_of, json_at, json_of, python_calls
from utils.llm.calls.vcp_block import REQUEST
from utils.llm.calls.vcp_text import scan

_MAX_END_CANDIDATES = 20
"""Places where a Python call may end; within a string there are more."""
_CALL_END = re.compile(r"\)\s*,?\s*\]|\)(?=[ \t]*(?:\n|\Z))")


def _read_bare_json(text: str, opening: re.Match[str]) -> Block:
    value, end = json_at(text, opening.start("json"))
    calls = calls_of(value)
    if calls is None and text[opening.start("json")] == "[":
        return _read_python_list(text, opening)
    return calls, end


_PYTHON_LIST = re.compile(r"\[\s*[A-Za-z_][\w.]*\(")


def _read_python_list(text: str, opening: re.Match[str]) -> Block:
    """Read `[name(key="value"), …]`, the calls of Llama 4 and of Python-minded models."""
    start = opening.start("json")
    if not _PYTHON_LIST.match(text, start):
        return None, start
    return _read_python_at(text, start)


def _read_python_at(text: str, start: int) -> Block:
    for match in islice(_CALL_END.finditer(text, start), _MAX_END_CANDIDATES):
        if calls := python_calls(text[start : match.end()].rstrip(",")):
            return calls, match.end()
    return None, start


def _read_python_call(text: str, opening: re.Match[str]) -> Block:
    """Read `name(key="value")` or `name({…})` at the start of a line."""
    value, end = json_at(text, opening.end())
    if isinstance(value, dict) and (closing := re.compile(r"\s*\)").match(text, end)):
        return [TextCall(opening["name"], value)], closing.end()
    return _read_python_at(text, opening.start("name"))


def _read_fence(text: str, opening: re.Match[str]) -> Block:
    closing = re.compile(rf"^[ \t]*{opening['fence']}`*[ \t]*$", re.MULTILINE)
    match = closing.search(text, opening.end())
    if match is None:
        return None, opening.end()
    body = text[opening.end() : match.start()].strip()
    calls = calls_in(body)
    if calls is None and opening["label"] == "tool_code":
        calls = python_calls(body)
    return calls, match.end()


def _read_mistral(text: str, opening: re.Match[str]) -> Block:
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


def _read_marked(text: str, opening: re.Match[str]) -> Block:
    """Read JSON or Python behind a marker; one that closes it may follow."""
    value, end = json_at(text, opening.end())
    calls = calls_of(value)
    if value is None:
        calls, end = _read_python_at(text, opening.end())
    closing = re.compile(r"\s*<\|/?(?:tool_call|end_of_tool|eom_id|eot_id|call)\|>").match(
        text, end
    )
    return calls, closing.end() if closing else end


_PAIRS = {
    "START_ACTION": "<|END_ACTION|>",
    "action_start": "<|action_end|>",
    "tool_call_start": "<|tool_call_end|>",
    "tools_prefix": "<|tools_suffix|>",
    "python_start": "<|python_end|>",
}


def _read_delimited(text: str, opening: re.Match[str]) -> Block:
    """Read JSON or Python between a marker and the one that has to close it."""
    closing = _PAIRS[opening["marker"]]
    end = text.find(closing, opening.end())
    body = text[opening.end() : max(end, opening.end())].strip()
    value = json_of(body)
    calls = calls_of(value) or python_calls(body)
    return (calls, end + len(closing)) if end >= 0 else (None, opening.end())


def _read_kimi(text: str, opening: re.Match[str]) -> Block:
    call = re.compile(
        r"\s*<\|tool_call_begin\|>\s*([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>"
        r"(.*?)<\|tool_call_end\|>\s*",
        re.DOTALL,
    )
    calls = []
    position = opening.end()
    while match := call.match(text, position):
        value = json_of(match[2].strip())
        if not isinstance(value, dict):
            return None, position
        calls.append(TextCall(match[1], value))
        position = match.end()
    closing = "<|tool_calls_section_end|>"
    if not calls or not text.startswith(closing, position):
        return None, position
    return calls, position + len(closing)


def _read_harmony(text: str, opening: re.Match[str]) -> Block:
    value, end = json_at(text, opening.end())
    closing = re.compile(r"\s*<\|call\|>").match(text, end)
    name = opening["name"] or opening["role"]
    if not isinstance(value, dict) or closing is None or not name:
        return None, end
    return [TextCall(name, value)], closing.end()


def _read_gemma(text: str, opening: re.Match[str]) -> Block:
    body = re.compile(r"(.*?)\}(?:<end_function_call>|<tool_call\|>)", re.DOTALL).match(
        text, opening.end()
    )
    if body is None:
        return None, opening.end()
    quoted = r"(?P<quote><escape>|<\|\"\|>)(?P<text>.*?)(?P=quote)"
    pair = re.compile(rf"\s*(?P<key>[\w.-]+):(?:{quoted}|(?P<bare>[^,<]*))\s*(?:,|\Z)", re.DOTALL)
    arguments: dict[str, Any] = {}
    position = 0
    while position < len(body[1]):
        match = pair.match(body[1], position)
        if match is None or match.end() == position:
            return None, opening.end()
        arguments[match["key"]] = match["bare"] if match["text"] is None else match["text"]
        position = match.end()
    return [TextCall(opening["name"], arguments)], body.end()


def _read_vcp(text: str, opening: re.Match[str]) -> Block:
    placed = scan(text).at(opening.start())
    if placed is None:
        return None, opening.end()
    return [TextCall(placed.block.name, placed.block.arguments)], placed.end


def _read_deepseek(text: str, opening: re.Match[str]) -> Block:
    calls, end = calls_at(text, opening.start())
    if calls is None:
        return None, opening.end()
    return [TextCall(call.name, json_of(call.arguments)) for call in calls], end


def _read_incomplete(text: str, opening: re.Match[str]) -> Block:  # noqa: ARG001 - it is a `Reader`
    """Read nothing: what begins so is a call in a form that has no end of its own."""
    return None, opening.end()


_START = r"(?:^|(?<=[:：]))[ \t]*"
"""Start of a form of words and brackets: at the start of a line, or behind a colon."""
_TO = r"to=(?:functions\.)?"

SYNTAXES: Sequence[tuple[re.Pattern[str], Reader]] = tuple(
    (re.compile(opening, re.MULTILINE), reader)
    for opening, reader in (
        (rf"<(?P<tag>{WRAPPER})>", read_wrapped),
        (r"<(?P<tag>tools)>(?=\s*\{+\s*\"name\":\s*\"[\w.-]+\",\s*\"arguments\")", read_wrapped),
        (
            r"<(?P<tag>tool|tool_call|tool_use|function_call)\s+name=[\"'](?P<name>[\w.-]+)[\"']>",
            read_attributed,
        ),
        (FUNCTION, read_function),
        (INVOKE, read_invoke),
        (r"\[TOOL_CALLS\]", _read_mistral),
        (r"<\|(?:python_tag|tool_call)\|>|\bfunctools(?=\[)", _read_marked),
        (
            r"<\|(?P<marker>START_ACTION|action_start|tool_call_start|tools_prefix|python_start)\|>"
            r"(?:\s*<\|plugin\|>)?",
            _read_delimited,
        ),
        (r"<\|tool_calls_section_begin\|>", _read_kimi),
        (
            rf"(?:<\|start\|>assistant(?: {_TO}(?P<role>\w+))?)?<\|channel\|>"
            rf"(?:commentary|analysis(?= {_TO}\w))(?: {_TO}(?P<name>\w+))?[^<]*"
            r"(?:<\|constrain\|>\w+)?<\|message\|>",
            _read_harmony,
        ),
        (r"<(?:start_function_call|\|tool_call)>call:(?P<name>\w+)\{", _read_gemma),
        (re.escape(REQUEST), _read_vcp),
        (MARKUP, _read_deepseek),
        (
            r"^[ \t]*(?P<fence>```)[ \t]*(?P<label>(?i:json)[5c]?|tool_calls?|tool_use"
            r"|function_calls?|tools?|function|action|)[ \t]*\n(?=\s*[{\[])",
            _read_fence,
        ),
        (r"^[ \t]*(?P<fence>```)(?P<label>tool_code)[ \t]*\n", _read_fence),
        *LABELLED,
        (r"^[ \t]*(?:tool|name|function|[Aa]ction):[ \t]*(?P<name>\w+)[ \t]*$", _read_incomplete),
        (rf"{_START}(?P<json>[{{\[])", _read_bare_json),
        (rf"{_START}(?P<name>(?:\w+\.)?[a-z]+_[a-z_]+)\((?=[{{\w)\"'])", _read_python_call),
        (rf"{_START}<(?P<name>[a-z]+_[a-z_]+)>(?=\s*<[a-z_]+>)", read_children),
        (rf"{_START}<(?P<shell>bash|execute_bash)>", read_shell),
    )
)
"""Each form: the pattern that opens it, and its reader."""
