"""Checkpoints that are loaded when they are first wanted: a start and an answer need none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints

DATABASE_NAME = "checkpoints.db"


class LateCheckpoints:
    """The `Checkpoints` that *make* returns at the first `get`, kept in the folder *store*.

    What may only be done where they are in use asks for them `if_made`.
    """

    def __init__(self, make: Callable[[], Checkpoints], store: Path) -> None:
        self._make = make
        self._database = store / DATABASE_NAME
        self._lock = threading.Lock()
        self._limits: dict[str, Any] = {}  # those of *make* until others are set
        self.if_made: Checkpoints | None = None

    def get(self) -> Checkpoints:
        with self._lock:
            if self.if_made is None:
                made = self._make()
                if self._limits:
                    made.limit(**self._limits)
                self.if_made = made
            return self.if_made

    def limit(self, *, file_cap: int, total_cap: int, keep_days: float) -> None:
        """Have these limits hold from now on, as `Checkpoints.limit` says."""
        with self._lock:
            self._limits = {"file_cap": file_cap, "total_cap": total_cap, "keep_days": keep_days}
            if self.if_made is not None:
                self.if_made.limit(**self._limits)

    def exist(self) -> bool:
        """Return whether anything was ever kept."""
        return self._database.exists()
