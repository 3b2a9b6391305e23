"""Profiles of Claude's models: known by their names, or from the server's own list.

The names are those of https://platform.claude.com/docs/en/about-claude/models/overview, read in
November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utils.llm.profiles.server_profile import ServerProfile

_MILLION = 1_000_000
_LARGE = ServerProfile(window=_MILLION, max_output=128_000, thinks_by="adaptive", pictures=True)
_SMALL = ServerProfile(window=200_000, max_output=64_000, pictures=True)
_ALWAYS = replace(_LARGE, rests_by="effort")
_BETWEEN = replace(_LARGE, rests_by="between_tools")
_ADAPTIVE = replace(_LARGE, rests_by="disabled")
_BUDGET = replace(_SMALL, thinks_by="enabled", rests_by="disabled", reasoning_effort=False)
_UNKNOWN = replace(_SMALL, thinks_by="adaptive")

_PROFILES: tuple[tuple[str, ServerProfile], ...] = (
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


def known_profile(model: str) -> ServerProfile:
    """Return the profile of *model*; of one that is not known, that of the smallest models."""
    for pattern, profile in _PROFILES:
        if re.match(pattern, model):
            return profile
    return _UNKNOWN


def parse_model(row: Mapping[str, Any]) -> ServerProfile | None:
    """Return the profile in a *row* of the server's list, of a model that is not known by its name.

    None is returned of one that is, and where nothing is said.
    """
    if known_profile(str(row["id"])) is not _UNKNOWN:
        return None
    changes: dict[str, Any] = {}
    for ours, theirs in (("window", "max_input_tokens"), ("max_output", "max_tokens")):
        if isinstance(value := row.get(theirs), int) and value > 0:
            changes[ours] = value
    capabilities = row.get("capabilities")
    if isinstance(capabilities, dict):
        changes |= _thinking_changes(capabilities)
    return ServerProfile(**changes) if changes else None


def _thinking_changes(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    types = _subtable(_subtable(capabilities, "thinking"), "types")
    changes: dict[str, Any] = {}
    if _subtable(capabilities, "thinking").get("supported") is False:
        changes["thinking"] = False
    for name in ("adaptive", "enabled"):
        if _subtable(types, name).get("supported"):
            changes["thinks_by"] = name
            break
    if types:
        disable_modes = [
            n for n in ("disabled", "between_tools") if _subtable(types, n).get("supported")
        ]
        changes["rests_by"] = disable_modes[0] if disable_modes else "effort"
    if _subtable(capabilities, "effort").get("supported") is False:
        changes["reasoning_effort"] = False
    return changes


def _subtable(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = table.get(name)
    return value if isinstance(value, dict) else {}
