"""Finding and calling tools of MCP servers that are not in the model's list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from core.cards import TableCard
from core.tools import Outcome, Risk, Tool, ToolError, tool
from modules.mcp_client.answers import fenced
from modules.mcp_client.server_tools import ServerTool
from modules.tool_switches import RISK_LABELS
from utils.i18n import phrase
from utils.text.clean import visible

_MAX_FOUND = 6
_MAX_SUMMARY = 200  # characters on a card
_WORD = re.compile(r"\w+")


class ToolSearch:
    """The two tools that stand for all others of *tools*, which are those there are now."""

    def __init__(self, tools: Callable[[], Sequence[ServerTool]]) -> None:
        self._tools = tools

    def listed(self) -> tuple[Tool, ...]:
        return Tool.of(self.find_tools), Tool.of(self.call_tool)

    @tool(
        Risk.READ,
        phrase("Find tools of MCP servers."),
        verb=phrase("Find tools"),
        icon="search",
        subject="{query}",
    )
    def find_tools(self, query: str) -> Outcome:
        """Find more tools of the MCP servers than are listed here, by words of what is to be
        done; call_tool calls them."""
        found = self._best(query)
        rows = tuple(
            (one.name, RISK_LABELS[one.risk], one.description[:_MAX_SUMMARY]) for one in found
        )
        card = TableCard(phrase("Tools"), rows)
        if not found:
            servers = ", ".join(dict.fromkeys(visible(one.source) for one in self._tools()))
            return Outcome(f"Nothing fits. Servers: {servers or 'none'}.", card)
        told = [json.dumps(one.to_wire()["function"], ensure_ascii=False) for one in found]
        servers = ", ".join(dict.fromkeys(one.source for one in found))
        return Outcome(fenced(servers, "\n".join(told)), card)

    @tool(
        Risk.READ,
        phrase("Call a tool of an MCP server that was found."),
        verb=phrase("Call"),
        subject="{tool}",
        forwards="tool",
    )
    def call_tool(self, tool: str, arguments: dict[str, Any]) -> Outcome:  # noqa: ARG002 - see below
        """Call a tool that find_tools has found."""
        raise ToolError(  # one that there is has been called itself: see `ToolSpec.forwards`
            f"There is no tool {tool!r} of an MCP server. Nothing was done.", "not_found"
        )

    def _best(self, query: str) -> list[ServerTool]:
        words = {word.lower() for word in _WORD.findall(query)}
        scored = [(_score(one, words), one) for one in self._tools()]
        ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [one for _, one in ranked[:_MAX_FOUND]]


def _score(one: ServerTool, words: set[str]) -> int:
    """Return how well *one* fits *words*: its name counts three times its description."""
    name = one.name.lower()
    description = one.description.lower()
    return sum(3 * (word in name) + (word in description) for word in words)
