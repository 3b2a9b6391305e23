"""About how many tokens the mentions of a message cost, said before it is sent."""

from __future__ import annotations

from typing import Literal

from modules.files.project import Project
from modules.mentions.names import MAX_MENTIONS, address_in, named_path, names_in
from utils.frozen import frozen
from utils.i18n import Text, phrase
from utils.text.clean import visible

_MAX_FILE_BYTES = 32_000
"""What one answer holds of a file."""
_BYTES_PER_TOKEN = 3.3


@frozen
class MentionCost:
    """A mention that will be read; *tokens* is an estimate, None where it is not known yet."""

    name: str
    kind: Literal["file", "folder", "page"]
    tokens: int | None


def mention_costs(project: Project, text: str) -> list[MentionCost]:
    """Return what of *text* will be read, from a look at the sizes alone: quick enough for a key.

    Names of functions and classes are looked up only when the message is sent.
    """
    costs: list[MentionCost] = []
    for name in names_in(text):
        if len(costs) == MAX_MENTIONS:
            break
        if address := address_in(name):
            costs.append(MentionCost(address, "page", None))
        elif (named := named_path(project, name)) and named.kind == "folder":
            costs.append(MentionCost(named.path, "folder", None))
        elif named:
            size = min(named.size, _MAX_FILE_BYTES)
            tokens = round(size / _BYTES_PER_TOKEN) if named.last is None else None
            costs.append(MentionCost(named.path, "file", tokens))
    return costs


def cost_text(costs: list[MentionCost]) -> Text:
    """Return a sentence on *costs*, "" for none."""
    if not costs:
        return ""
    names = ", ".join(f"@{visible(cost.name)}" for cost in costs)
    tokens = sum(cost.tokens or 0 for cost in costs)
    if all(cost.tokens is None for cost in costs):
        return phrase("Adds {names}", names=names)
    if any(cost.tokens is None for cost in costs):
        return phrase("Adds {names}: at least about {tokens:,} tokens", names=names, tokens=tokens)
    if tokens == 1:
        return phrase("Adds {names}: about 1 token", names=names)
    return phrase("Adds {names}: about {tokens:,} tokens", names=names, tokens=tokens)
