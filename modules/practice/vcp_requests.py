"""Practice in VCP: a request with calls in its text read as one with calls, the reply written back.

The practice model itself knows calls and answers only, as the engine does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from modules.practice.practice_reply import PracticeReply
from utils.llm.calls.vcp_block import Block, read_block
from utils.llm.calls.vcp_text import scan
from utils.llm.completion import Wire
from utils.llm.protocols.registry import ALL
from utils.llm.protocols.vcp_messages import END_RESULT, RESULT

_DEFINITION = re.compile(
    r"<<<\[TOOL_DEFINITION\]>>>\ntool_name: 「始」(?P<name>[^「]+)「末」(?P<rest>.*?)\n"
    r"<<<\[END_TOOL_DEFINITION\]>>>",
    re.DOTALL,
)
_PARAMETER = re.compile(r"(?m)^  - (?P<name>\w+) \((?P<type>JSON \w+|\w+)")
_TYPES = {"integer": "integer", "number": "number", "boolean": "boolean", "JSON array": "array"}


def reply_in_vcp(
    request: dict[str, Any], answer: Callable[[dict[str, Any]], PracticeReply]
) -> PracticeReply:
    """Return the reply of *answer* to *request*, with its calls as blocks in the text."""
    tools = [_tool(match) for match in _definitions(request["messages"])]
    messages = list(_with_calls(request["messages"], tools))
    reply = answer({**request, "messages": messages, "tools": tools})
    vcp = ALL["vcp"]
    blocks = (vcp.render(call.name, call.arguments, tools) for call in reply.calls)
    return PracticeReply("\n\n".join(filter(None, [reply.text, *blocks])), reply.thinking)


def _definitions(messages: Sequence[Wire]) -> list[re.Match[str]]:
    return list(_DEFINITION.finditer(messages[0]["content"]))


def _tool(definition: re.Match[str]) -> Wire:
    """Return the declaration behind *definition*, as far as calls are read by it."""
    properties = {
        match["name"]: {"type": _TYPES.get(match["type"], "string")}
        for match in _PARAMETER.finditer(definition["rest"])
    }
    parameters = {"type": "object", "properties": properties}
    return {
        "type": "function",
        "function": {"name": definition["name"], "parameters": parameters},
    }


def _with_calls(messages: Sequence[Wire], tools: Sequence[Wire]) -> Iterator[Wire]:
    """Yield *messages* with calls and answers of their own; an answer is that of the next call."""
    open_ids: list[str] = []
    for number, message in enumerate(messages):
        content = message.get("content")
        if message["role"] == "assistant" and isinstance(content, str) and scan(content).blocks:
            calls = list(_calls(content, tools, number))
            open_ids = [call["id"] for call in calls]
            yield {**message, "content": "", "tool_calls": calls}
        elif open_ids and isinstance(content, str) and content.startswith(RESULT):
            for call_id, block in zip(open_ids, _results(content), strict=False):
                text = block.arguments["result"]
                yield {"role": "tool", "tool_call_id": call_id, "content": text}
            open_ids = []
        else:
            yield message


def _calls(content: str, tools: Sequence[Wire], number: int) -> Iterator[Wire]:
    for place, call in enumerate(ALL["vcp"].parse(content, tools).calls):
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        function = {"name": call.name, "arguments": arguments}
        yield {"id": f"{number}-{place}", "type": "function", "function": function}


def _results(content: str) -> Iterator[Block]:
    position = 0
    while content.startswith(RESULT, position):
        block, position = read_block(content, position, begin=RESULT, end=END_RESULT)
        if block is None:
            return
        yield block
        position += len("\n")
