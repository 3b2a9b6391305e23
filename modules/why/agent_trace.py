"""Agent Trace: where lines come from, as other programs read it.

After the specification 0.1.0 (RFC of January 2026, https://github.com/cursor/agent-trace). A record
holds no text of files and no words of anybody: ranges, digests, models, and where to look.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from modules.checkpoints.line_origins.origins import FileOrigins, Origin
from modules.why.ranges import Ranges, ranges_by_origin
from modules.why.reasons import Reasons

SPECIFICATION = "0.1.0"
_CONTRIBUTORS = {"person": "human", "others": "unknown"}
"""Types of contributors but for calls; of what was there before there is nothing to record."""
_MAX_MODEL = 250  # characters
_DEEPSEEK = "deepseek"


def trace_record(
    files: Iterable[FileOrigins], reasons: Reasons, version: str, *, revision: str = ""
) -> dict[str, Any]:
    """Return the record that *version* of ours makes of *files*.

    They are those of the commit *revision* if one is named.
    """
    told = [_file(found, reasons) for found in files]
    vcs = {"vcs": {"type": "git", "revision": revision}} if revision else {}
    return {
        "version": SPECIFICATION,
        "id": str(uuid.uuid4()),
        "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **vcs,
        "tool": {"name": "onefold", "version": version},
        "files": [one for one in told if one["conversations"]],
    }


def _file(found: FileOrigins, reasons: Reasons) -> dict[str, Any]:
    conversations: dict[tuple[str, int, str], dict[str, Any]] = {}
    for origin, ranges in ranges_by_origin(found).items():
        if origin.writer != "call" and origin.writer not in _CONTRIBUTORS:
            continue
        key = origin.session, origin.turn, origin.writer
        conversation = conversations.setdefault(key, _conversation(origin, reasons))
        conversation["ranges"] += _ranges(found, ranges)
    told = [one for one in conversations.values() if one["ranges"]]
    return {"path": found.path, "conversations": told}


def _conversation(origin: Origin, reasons: Reasons) -> dict[str, Any]:
    if origin.writer != "call":
        return {"contributor": {"type": _CONTRIBUTORS[origin.writer]}, "ranges": []}
    kept = reasons.session(origin.session)
    model = {"model_id": _model_id(kept.info.model)} if kept and kept.info.model else {}
    return {
        "url": f"onefold://session/{origin.session}#turn-{origin.turn}",
        "contributor": {"type": "ai", **model},
        "ranges": [],
    }


def _model_id(model: str) -> str:
    """Return *model* as models.dev names it, as far as its name tells who provides it."""
    named = f"{_DEEPSEEK}/{model}" if model.startswith(_DEEPSEEK) and "/" not in model else model
    return named[:_MAX_MODEL]


def _ranges(found: FileOrigins, ranges: Ranges) -> list[dict[str, Any]]:
    return [
        {
            "start_line": start,
            "end_line": end,
            "content_hash": f"sha256:{_digest(found.lines[start - 1 : end])}",
        }
        for start, end in ranges
    ]


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
