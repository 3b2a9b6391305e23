"""What was said, for a trace that is to have it: messages and calls in the form of the GenAI
conventions, as the model had them, with names in the place of secrets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from core.conversation.messages import Assistant, Record, ShellResult, ToolResult, Wire


def request_attributes(messages: Sequence[Wire]) -> dict[str, str]:
    """Return the attributes of a step for the *messages* that are sent with it."""
    system = [part for one in messages if one["role"] == "system" for part in _parts(one)]
    said = [
        {"role": one["role"], "parts": list(_parts(one))}
        for one in messages
        if one["role"] != "system"
    ]
    return {
        "gen_ai.system_instructions": _json(system),
        "gen_ai.input.messages": _json(said),
    }


def reply_attributes(records: Iterable[Record]) -> dict[str, str]:
    """Return the attributes of a step for the last reply in *records*, its newest first."""
    reply = next((one for one in records if isinstance(one, Assistant)), None)
    if reply is None:
        return {}
    why = "tool_call" if reply.calls else "stop"
    parts = list(_parts(reply.to_wire()))
    said = [{"role": "assistant", "parts": parts, "finish_reason": why}]
    return {"gen_ai.output.messages": _json(said)}


def result_attributes(records: Iterable[Record], call_id: str) -> dict[str, str]:
    """Return the attributes of the call *call_id* for its answer in *records*, newest first."""
    for one in records:
        if isinstance(one, ToolResult | ShellResult) and one.call_id == call_id:
            return {"gen_ai.tool.call.result": one.text}
    return {}


def _parts(message: Wire) -> Iterator[dict[str, Any]]:
    text = message.get("content") or ""
    if message["role"] == "tool":
        yield {
            "type": "tool_call_response",
            "id": message["tool_call_id"],
            "response": text,
        }
        return
    if thinking := message.get("reasoning_content"):
        yield {"type": "reasoning", "content": thinking}
    if text:
        yield {"type": "text", "content": text}
    for call in message.get("tool_calls", ()):
        function = call["function"]
        yield {
            "type": "tool_call",
            "id": call["id"],
            "name": function["name"],
            "arguments": json.loads(function["arguments"]),
        }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
