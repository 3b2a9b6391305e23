"""What Claude's models take and how much: known by their names, or from the server's own list.

The names are those of https://platform.claude.com/docs/en/about-claude/models/overview, read in
November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utils.llm.server_profile import ServerProfile

_MILLION = 1_000_000
_LARGE = ServerProfile(window=_MILLION, max_output=128_000, thinks_by="adaptive", pictures=True)
_SMALL = ServerProfile(window=200_000, max_output=64_000, pictures=True)
_ALWAYS = replace(_LARGE, rests_by="effort")
_BETWEEN = replace(_LARGE, rests_by="between_tools")
_ADAPTIVE = replace(_LARGE, rests_by="disabled")
_BUDGET = replace(_SMALL, thinks_by="enabled", rests_by="disabled", reasoning_effort=False)
_UNKNOWN = replace(_SMALL, thinks_by="adaptive")

_KNOWN: tuple[tuple[str, ServerProfile], ...] = (
    (r"claude-(fable|mythos)-", _ALWAYS),
    (r"claude-opus-5-5", _ALWAYS),
    (r"claude-sonnet-5-5", _BETWEEN),
    (r"claude-(opus|sonnet|haiku)-5", _ADAPTIVE),
    (r"claude-opus-4-[6-8]", _ADAPTIVE),
    (r"claude-sonnet-4-6", replace(_ADAPTIVE, max_output=64_000)),
    (r"claude-(opus|sonnet|haiku)-4-5", _BUDGET),
    (r"claude-(opus-4|sonnet-4|3-7)", replace(_BUDGET, max_output=32_000)),
    (r"claude-3", replace(_BUDGET, max_output=4_096, thinking=False)),
)
"""The first that fits a name counts."""


def facts(model: str) -> ServerProfile:
    """Return what is known of *model*; of one that is not known, what all of them take."""
    for pattern, profile in _KNOWN:
        if re.match(pattern, model):
            return profile
    return _UNKNOWN


def described(row: Mapping[str, Any]) -> ServerProfile | None:
    """Return what a *row* of the server's list says of a model that is not known by its name.

    None is returned of one that is, and where nothing is said.
    """
    if facts(str(row["id"])) is not _UNKNOWN:
        return None
    changes: dict[str, Any] = {}
    for ours, theirs in (("window", "max_input_tokens"), ("max_output", "max_tokens")):
        if isinstance(value := row.get(theirs), int) and value > 0:
            changes[ours] = value
    capabilities = row.get("capabilities")
    if isinstance(capabilities, dict):
        changes |= _thinking(capabilities)
    return ServerProfile(**changes) if changes else None


def _thinking(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    types = _part(_part(capabilities, "thinking"), "types")
    changes: dict[str, Any] = {}
    if _part(capabilities, "thinking").get("supported") is False:
        changes["thinking"] = False
    for name in ("adaptive", "enabled"):
        if _part(types, name).get("supported"):
            changes["thinks_by"] = name
            break
    if types:
        resting = [n for n in ("disabled", "between_tools") if _part(types, n).get("supported")]
        changes["rests_by"] = resting[0] if resting else "effort"
    if _part(capabilities, "effort").get("supported") is False:
        changes["reasoning_effort"] = False
    return changes


def _part(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = table.get(name)
    return value if isinstance(value, dict) else {}
