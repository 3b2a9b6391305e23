"""Calls in a text that somebody pasted: read as a protocol reads a model's reply, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.conversation.messages import ToolCall
from core.loop.response import to_tool_call
from core.tool_texts import NATIVE, protocol_named
from core.tools import Toolbox
from utils.i18n import BadUsage, phrase
from utils.llm.completion import RawCall
from utils.text.strict_json import read_json

_NAMES = ("name", "tool", "tool_name")
_ARGUMENTS = ("arguments", "input", "parameters", "args")
_MAX_CALLS = 32


def parse_calls(text: str, tools: Toolbox, protocol: str = NATIVE) -> tuple[ToolCall, ...]:
    """Return the calls of *text*: JSON, or what *protocol* takes for calls in a model's reply.

    Raises `BadUsage` where it holds none, or what is in doubt: the product would run nothing of it.
    """
    if (raw := _calls_in_json(text)) is None:
        reply = protocol_named(protocol).parse(text, tools.wire)
        if reply.is_doubtful:
            raise BadUsage(
                phrase(
                    "This text may contain a call, but it is unclear or incomplete, so it "
                    "would not be run."
                )
            )
        raw = [RawCall("", c.name, json.dumps(c.arguments)) for c in reply.calls]
    if not raw:
        raise BadUsage(
            phrase("No tool call found in this text. /tools NAME shows a tool's parameters.")
        )
    return tuple(
        to_tool_call(RawCall(f"call-{number}", call.name, call.arguments), tools)
        for number, call in enumerate(raw[:_MAX_CALLS], 1)
    )


def _calls_in_json(text: str) -> list[RawCall] | None:
    """Return the calls that *text* is in JSON, None where it is something else."""
    try:
        value = read_json(text.strip())
    except ValueError:
        return None
    found = [_call_of(item) for item in _items(value)]
    calls = [call for call in found if call]
    return calls if calls and len(calls) == len(found) else None


def _items(value: Any) -> Sequence[Any]:
    """Return what may be calls in *value*: a list, a message with calls, a whole response, one."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return ()
    if isinstance(value.get("choices"), list) and value["choices"]:
        first = value["choices"][0]
        return _items(first.get("message")) if isinstance(first, dict) else ()
    for name in ("tool_calls", "content"):
        if isinstance(value.get(name), list):
            return [one for one in value[name] if not _is_prose(one)]
    return [value]


def _is_prose(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("text", "thinking")


def _call_of(item: Any) -> RawCall | None:
    if not isinstance(item, dict):
        return None
    item = item["function"] if isinstance(item.get("function"), dict) else item
    name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), None)
    if name is None:
        return None
    arguments: Any = next((item[key] for key in _ARGUMENTS if key in item), {})
    return RawCall("", name, _as_text(arguments))


def _as_text(arguments: str | Mapping[str, Any]) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False)
