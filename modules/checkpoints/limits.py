"""How much checkpoints hold, and what is said of a thing that was too much."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modules.checkpoints.entries import REASONS
from modules.checkpoints.steps import Left
from utils.phrases import Phrase, phrase
from utils.text import size_in_words


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes: of one file, and of the whole store."""

    file_cap: int
    total_cap: int

    def exceeded(self, size: int, held: int) -> str:
        """Return why (a key of `REASONS`) a file of *size* cannot be held beside *held* bytes."""
        if size > self.file_cap:
            return "large"
        return "full" if held + size > self.total_cap else ""

    def blamed(self, left: Left) -> Left:
        """Return *left* with the limit that is to blame, if one is, and how to raise it."""
        for reason, limit, words in (
            ("large", self.file_cap, _too_large),
            ("full", self.total_cap, _full),
        ):
            if left.why == REASONS[reason]:
                return replace(left, why=words(limit))
        return left


def _too_large(limit: int) -> Phrase:
    return phrase(
        "larger than {limit}, the most that checkpoints hold of one file (setting "
        "checkpoint_file_mb)",
        limit=size_in_words(limit),
    )


def _full(limit: int) -> Phrase:
    return phrase(
        "the {limit} for checkpoints are used up (setting checkpoint_total_mb)",
        limit=size_in_words(limit),
    )
