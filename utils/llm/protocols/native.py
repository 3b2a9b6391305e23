"""The server's own function calling: calls stand beside the text.

Of a text it reads what models write there instead of calling: JSON, `<tool_call>`, DSML, ….
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from utils.llm.completion import Wire
from utils.llm.protocols.call_protocol import ParsedReply
from utils.llm.protocols.declarations import parameters_of, required_of


class Native:
    """The protocol of that name; see `CallProtocol`."""

    name = "native"

    def definitions(self, tools: Sequence[Wire]) -> str:
        return json.dumps(list(tools), ensure_ascii=False, indent=2) if tools else ""

    def render(
        self,
        name: str,
        arguments: Mapping[str, Any],
        tools: Sequence[Wire],  # noqa: ARG002 - JSON has types of its own
    ) -> str:
        call = json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)
        return f"<tool_call>\n{call}\n</tool_call>"

    def parse(self, text: str, tools: Sequence[Wire], sources: Iterable[str] = ()) -> ParsedReply:
        from utils.llm.calls.text_calls import ToolFit, find_calls

        schemas = parameters_of(tools)
        required = {tool["function"]["name"]: set(required_of(tool)) for tool in tools}

        def check_fit(name: str, arguments: Mapping[str, Any]) -> ToolFit:
            if name not in schemas:
                return "unknown"
            is_fitting = required[name] <= arguments.keys() <= schemas[name].keys()
            return "fits" if is_fitting else "misfits"

        found = find_calls(text, check_fit, sources)
        if found is None or not found.is_sure:
            return ParsedReply(text, is_doubtful=found is not None)
        return ParsedReply(found.text, found.calls)

    def request(
        self, messages: Sequence[Wire], tools: Sequence[Wire]
    ) -> tuple[Sequence[Wire], Sequence[Wire]]:
        return messages, tools
