"""Model of the API's prompt cache: prefixes of marked blocks, searched back from each mark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

LOOKBACK_BLOCKS = 20
"""Blocks before a mark that are compared with what is known."""


class PromptCache:
    def __init__(self) -> None:
        self._known: set[str] = set()

    def take(self, body: Mapping[str, Any]) -> dict[str, int]:
        """Return the usage of a request, a character being a token; keep what it marks."""
        blocks = list(flatten_blocks(body))
        ends = [number for number, (_, is_marked) in enumerate(blocks, 1) if is_marked]
        prefixes = [""]
        for serialized, _ in blocks:
            prefixes.append(prefixes[-1] + serialized)
        hit = 0
        for end in ends:
            for number in range(end, max(0, end - LOOKBACK_BLOCKS), -1):
                if prefixes[number] in self._known:
                    hit = max(hit, number)
                    break
        self._known |= {prefixes[end] for end in ends}
        last = max(ends, default=0)
        read = len(prefixes[hit])
        return {
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": max(0, len(prefixes[last]) - read),
            "input_tokens": len(prefixes[-1]) - max(len(prefixes[last]), read),
        }


def flatten_blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield each block of a request, spelled without its mark, and whether it is marked."""
    rows = [("tool", one) for one in body.get("tools", ())]
    rows += [("system", one) for one in body.get("system", ())]
    rows += [(m["role"], one) for m in body["messages"] for one in m["content"]]
    for role, block in rows:
        bare = {name: value for name, value in block.items() if name != "cache_control"}
        yield json.dumps([role, bare], sort_keys=True), "cache_control" in block
