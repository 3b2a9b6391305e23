"""The ledger of a racer: what it spends is kept by the session that races."""

from __future__ import annotations

from pathlib import Path

from modules.spending.ledger import Ledger


class UnkeptLedger(Ledger):
    """Keeps nothing, and knows of nothing."""

    def __init__(self) -> None:
        super().__init__(Path())

    def add(self, dollars: float, when: float) -> None:
        """Keep nothing."""

    def sum_since(self, start: float, until: float) -> float:  # noqa: ARG002 - none is kept
        return 0.0
