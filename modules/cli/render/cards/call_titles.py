"""Titles of calls on screen: a verb, and what it is done to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.tool_spec import ToolSpec, first_line
from utils.i18n import Text, phrase
from utils.text.clean import visible

TELLING = ("path", "pattern", "query", "url", "command", "code", "text", "message")
"""Names of arguments that say what a call of an unknown tool is about, the best first."""
ASKED: Mapping[str, Text] = {
    "follow": phrase("Follow"),
    "mcp": phrase("Start MCP servers"),
}
"""What is asked about though no tool declares it: AGENTS.md (modules/instructions), and the MCP
servers of a project (modules/mcp_client)."""


class CallTitles:
    """Titles of the calls of the tools that *specs* declares; others are called by their names."""

    def __init__(self, specs: Mapping[str, ToolSpec] | None = None) -> None:
        self._specs = specs or {}

    def verb(self, name: str) -> Text:
        """Return what the tool *name* does."""
        spec = self._specs.get(name)
        return spec.verb if spec and spec.verb else ASKED.get(name, name)

    def title(self, name: str, arguments: Mapping[str, Any]) -> Text:
        """Return what a call does and to what, in one line."""
        about = visible(self.subject(name, arguments))
        verb = self.verb(name)
        return phrase("{verb} {about}", verb=verb, about=about) if about else verb

    def subject(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return what a call is done to, "" where nothing is to be said of it."""
        spec = self._specs.get(name)
        if spec and spec.subject is not None:
            return spec.subject_of(arguments)
        values = (arguments[key] for key in TELLING if isinstance(arguments.get(key), str))
        return first_line(next(values, ""))
