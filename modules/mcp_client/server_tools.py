"""Tools of servers as tools of ours: named apart, in clean words, with a risk of our own."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.tool_spec import ToolSpec
from core.tools import Outcome, Risk, RunningTool, Tool, ToolError
from modules.mcp_client.config import ServerConfig
from modules.mcp_client.listing import Listing, OfferedTool
from utils.i18n import Phrase, phrase
from utils.text.clean import visible, visible_text
from utils.text.strict_json import read_json
from utils.text.tokens import estimate_tokens

_MAX_NAME = 64  # characters that the models' servers allow
_MAX_DESCRIPTION = 1_200  # characters
_MAX_SCHEMA = 40_000  # characters of a schema; a longer one is told without its details
_INVALID_IN_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}

Call = Callable[[str, str, dict[str, Any]], RunningTool]
"""Calls a tool of a server, both by name."""


@dataclass(frozen=True)
class ServerTool(Tool):
    """A tool of the server that is its *source*; it takes *tokens* in the list of the model."""

    tokens: int = field(default=0, compare=False)

    def validate(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return *raw* as far as can be seen to: the schema is the server's, and deeper than ours.

        Raises `ToolError` where something needed is missing.
        """
        if missing := [name for name in self.schema["required"] if name not in raw]:
            raise ToolError(
                f"{self.name} needs {', '.join(map(repr, missing))}, missing here. "
                "Nothing was done."
            )
        properties = self.schema["properties"]
        if self.schema.get("additionalProperties") is False and (
            extra := [name for name in raw if name not in properties]
        ):
            raise ToolError(
                f"{self.name} has no parameter {', '.join(map(repr, extra))}; it takes "
                f"{', '.join(properties) or 'none'}. Nothing was done."
            )
        return {name: _read(properties.get(name), value) for name, value in raw.items()}


def server_tools(
    config: ServerConfig, listing: Listing, call: Call, read: Call
) -> list[ServerTool]:
    """Return the tools of a server, in its order, and one for its resources where it has any.

    *call* runs a tool, *read* reads the resource in the place of a tool's name, "" for a list.
    """
    made: dict[str, ServerTool] = {}
    for offered in listing.tools:
        name = _free_name(f"{config.prefix}{_INVALID_IN_NAME.sub('_', offered.name)}", made)
        made[name] = _server_tool(config, name, offered, call)
    if listing.has_resources:
        name = _free_name(f"{config.prefix}read_resource", made)
        made[name] = _resource_tool(config, name, read)
    return list(made.values())


def _resource_tool(config: ServerConfig, name: str, read: Call) -> ServerTool:
    def run(uri: str = "") -> Outcome | RunningTool:
        return read(config.name, uri, {})

    server = visible(config.name)
    description = f"Read a resource of the MCP server {server}; without uri, list them."
    schema = {"type": "object", "properties": {"uri": {"type": "string"}}, "required": []}
    return _with_tokens(
        ServerTool(name, description, spec_of_server(config, ""), schema, run, config.name)
    )


def _server_tool(config: ServerConfig, name: str, offered: OfferedTool, call: Call) -> ServerTool:
    def run(**arguments: Any) -> Outcome | RunningTool:
        return call(config.name, offered.name, arguments)

    tool = ServerTool(
        name,
        _description(config, offered),
        spec_of_server(config, offered.name),
        _schema(offered.schema),
        run,
        config.name,
    )
    return _with_tokens(tool)


def _with_tokens(tool: ServerTool) -> ServerTool:
    return replace(tool, tokens=estimate_tokens(json.dumps(tool.to_wire(), ensure_ascii=False)))


def spec_of_server(config: ServerConfig, tool: str) -> ToolSpec:
    """Return what is known of a tool of *config*: what the server says of its risk counts nothing.

    A program may change files whatever its risk is called.
    """
    usual = Risk.NETWORK if config.has_network else Risk.RUN
    risk = config.risks.get(tool) or config.risks.get("") or usual
    return ToolSpec(
        risk,
        icon="globe" if config.url else "terminal",
        changes_files=not config.url,
        always_ask=_reason(config) if risk is Risk.NETWORK else None,
    )


def _reason(config: ServerConfig) -> Phrase:
    server = visible(config.name)
    if config.url:
        return phrase(
            "It sends this to the MCP server {server}: {place}", server=server, place=config.place
        )
    if not config.is_sandboxed:
        return phrase(
            "The MCP server {server} runs outside the sandbox: it can do all that you can.",
            server=server,
        )
    if config.hosts:
        return phrase(
            "The MCP server {server} may reach these hosts and send them what it reads: {hosts}",
            server=server,
            hosts=", ".join(config.hosts),
        )
    return phrase(
        "The MCP server {server} may read packages from the network; what it asks for can tell of "
        "what it reads.",
        server=server,
    )


def fitting(tools: Iterable[ServerTool], limit: int) -> list[ServerTool]:
    """Return those of *tools* that are listed: in order, at most *limit* tokens together."""
    listed: list[ServerTool] = []
    left = limit
    for tool in tools:
        if tool.tokens <= left:
            listed.append(tool)
            left -= tool.tokens
    return listed


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    """Return *name* as a tool may be called, and none of *taken* is."""
    if len(name) <= _MAX_NAME and name not in taken:
        return name
    digest = hashlib.sha256(f"{name}{len(taken)}".encode()).hexdigest()[:6]
    return f"{name[: _MAX_NAME - 7]}_{digest}"


def _description(config: ServerConfig, offered: OfferedTool) -> str:
    """Return what the tool is for, in words of its server that nobody can take for ours."""
    said = " ".join(visible_text(offered.description).split())
    if len(said) > _MAX_DESCRIPTION:
        said = f"{said[:_MAX_DESCRIPTION]}…"
    return f"The MCP server {visible(config.name)} says: {said or visible(offered.name)}"


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return *schema* as it goes to the model: an object, with nothing hidden in its texts."""
    cleaned: dict[str, Any] = _cleaned(schema)
    if len(json.dumps(cleaned)) > _MAX_SCHEMA:
        names = list(cleaned.get("properties") or {})[:100]
        cleaned = {"properties": {name: {} for name in names}}
    properties, needed = cleaned.get("properties"), cleaned.get("required")
    cleaned.pop("$schema", None)
    return {
        **cleaned,
        "type": "object",
        "properties": properties if isinstance(properties, dict) else {},
        "required": [one for one in needed if isinstance(one, str)]
        if isinstance(needed, list)
        else [],
    }


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return visible_text(value)
    if isinstance(value, Mapping):
        return {
            visible_text(str(name)): _cleaned(one)
            for name, one in value.items()
            if not (isinstance(one, float) and not math.isfinite(one))
        }
    if isinstance(value, Sequence):
        return [_cleaned(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # what only Python calls a number would make the whole request no JSON
    return value


def _read(schema: Any, value: Any) -> Any:
    """Return *value*; where *schema* wants another type, what a text of it says."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(kind, str) or not isinstance(value, str) or kind in ("string", "null"):
        return value
    try:
        found = read_json(value)
    except ValueError:
        return value
    return found if isinstance(found, _PYTHON_TYPES.get(kind, ())) else value
