"""Tools as the protocol lists them, with what their declarations say of their risk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mcp_types as types

from core.tools import Risk, Tool, Toolbox

_TASK_RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "session": {"type": "string"},
        "status": {"enum": ["done", "error", "stopped", "step_limit", "budget", "refused"]},
        "answer": {"type": "string"},
        "files": {
            "type": "object",
            "properties": {
                "created": {"type": "array", "items": {"type": "string"}},
                "modified": {"type": "array", "items": {"type": "string"}},
                "deleted": {"type": "array", "items": {"type": "string"}},
                "renamed": {"type": "array", "items": {"type": "object"}},
            },
        },
        "error": {"type": ["string", "null"]},
        "error_code": {"type": ["string", "null"]},
    },
    "required": ["session", "status", "answer", "files", "error", "error_code"],
}


def offered(toolbox: Toolbox) -> list[Tool]:
    """Return the tools of *toolbox* that are for clients: those of files, search, runs and the web.

    A client has its own plan, notes and questions; ours would be no use to it.
    """
    return [tool for tool in toolbox if not (tool.spec.state or tool.spec.asks_person)]


def listed(tools: Iterable[Tool], task_name: str) -> list[types.Tool]:
    """Return *tools* for a client; *task_name* is the one that does whole tasks."""
    return [_listed(tool, is_task=tool.name == task_name) for tool in tools]


def _listed(tool: Tool, *, is_task: bool) -> types.Tool:
    spec = tool.spec
    is_read_only = _is_read_only(tool)
    return types.Tool(
        name=tool.name,
        title=str(spec.summary).removesuffix(".") if spec.summary else None,
        description=tool.description,
        input_schema=tool.schema | {"additionalProperties": False},
        output_schema=_TASK_RESULT if is_task else None,
        annotations=types.ToolAnnotations(
            read_only_hint=is_read_only,
            destructive_hint=not is_read_only and spec.risk is not Risk.WRITE,
            open_world_hint=is_task
            or spec.risk is Risk.NETWORK
            or "network" in tool.schema["properties"],
        ),
    )


def _is_read_only(tool: Tool) -> bool:
    """Return whether no call changes anything that somebody else could see."""
    if tool.spec.touches_nothing or tool.risk is Risk.READ:
        return True
    return tool.risk is Risk.NETWORK and not tool.spec.changes_files
