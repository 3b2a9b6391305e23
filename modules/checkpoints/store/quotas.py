"""Quotas of the checkpoint store, and the sentences for what exceeded one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from modules.checkpoints.restore.operations import Skipped
from modules.checkpoints.snapshot.entries import REASONS
from modules.checkpoints.store.store_lock import explained
from utils.i18n import Phrase, UserError, phrase
from utils.text.lines import format_size

_RESERVE = 1 << 20
"""Bytes of the disk that no content takes: what an undo must write down has room then."""
_FREE_FOR_CALL = 4 << 20
"""Bytes that must be free before a call runs, so that what it does can be held as well."""
_SMALL_DISK_SHARE = 8
"""On a small disk a call needs this part of it at most, and the reserve is a quarter of that."""


@dataclass(frozen=True, slots=True)
class Quotas:
    """Bytes: of one file, and of the whole store, which is in *folder*."""

    file_cap: int
    total_cap: int
    folder: Path

    def exceeded(self, size: int, stored: int) -> str:
        """Return why (a key of `REASONS`) a file of *size* cannot be held beside *stored* bytes."""
        if size > self.file_cap:
            return "large"
        return "full" if stored + size > self.total_cap else ""

    def free_bytes(self) -> int:
        """Return how many bytes of contents the disk takes, below 0: none. Raises `UserError`."""
        total, free = self._disk()
        return free - min(_RESERVE, total // _SMALL_DISK_SHARE // 4)

    def refuse_if_full(self, not_stored: Sequence[tuple[str, str]]) -> None:
        """Raise `UserError` where the disk is full; *not_stored*: paths, and why each is not."""
        total, free = self._disk()
        if free >= min(_FREE_FOR_CALL, total // _SMALL_DISK_SHARE) and not any(
            why == "room" for _, why in not_stored
        ):
            return
        raise UserError(
            phrase(
                "The disk is full: what this would change cannot be held in {path}, so it could "
                "not be undone ({free} are free). Make room there, or set ONEFOLD_DATA_DIR to a "
                "folder on another disk; then try again.",
                path=str(self.folder),
                free=format_size(free),
            )
        )

    def _disk(self) -> tuple[int, int]:
        """Return the bytes that the disk has, and those that are free."""
        with explained(self.folder):
            usage = shutil.disk_usage(self.folder)
        return usage.total, usage.free

    def explain(self, skipped: Skipped) -> Skipped:
        """Return *skipped* with the limit that is to blame, if one is, and how to raise it."""
        for reason, limit, sentence in (
            ("large", self.file_cap, _too_large),
            ("full", self.total_cap, _full),
        ):
            if skipped.why == REASONS[reason]:
                return replace(skipped, why=sentence(limit))
        return skipped


def _too_large(limit: int) -> Phrase:
    return phrase(
        "larger than {limit}, the most that checkpoints hold of one file (setting "
        "checkpoint_file_mb)",
        limit=format_size(limit),
    )


def _full(limit: int) -> Phrase:
    return phrase(
        "the {limit} for checkpoints are used up (setting checkpoint_total_mb)",
        limit=format_size(limit),
    )
