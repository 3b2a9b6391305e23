"""Answers that leave something open, to which "ok" may be a yes."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

from modules.depth.hinted_pattern import HintedPattern

_MAX_ANSWER = 2_000
"""Characters at the end of an answer that are looked at."""
_LEAVES_OPEN = HintedPattern(
    r"[?？]",
    r"(?m:^\s*(?:[-*+]|\d+[.)、])\s)",
    r"\b(?:let me know|tell me|say (?:so|the word|yes)|if you|would you|you (?:can|could|may|might)"
    r"|want me|(?:shall|should|can|could|will|would|may|might) (?:i|we)"
    r"|(?:i|we)(?:['’]ll|['’]d| (?:can|could|will|would|may|might|plan|propose|suggest|recommend"
    r"|am|are|need|have to))\b|next|plan|steps?|option|propos\w*|suggest\w*|recommend\w*|ready"
    r"|confirm"
    r"|proceed|approv\w*|waiting|still|remaining|left to|to ?do|not yet|pending|before i)\b",
    r"要不要|需要|是否|如果|若|要是|可以|能够|我(?:会|将|来|再|先|准备|打算|建议)|建议|接下来"
    r"|下一步|然后|计划|步骤"
    r"|方案|选择|请|等[你您]|确认|告诉我|同意|准备|尚未|还没|还有|剩[下余]|待",
    hints="",  # answers are looked at for all of it
)


def leaves_open(answer: str) -> bool:
    """Return whether *answer* asks, offers, lists or announces something: "ok" may mean that."""
    return bool(answer) and _LEAVES_OPEN.is_in(answer[-_MAX_ANSWER:])
