"""Versions of a file: its states that the checkpoints hold, wherever it was."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass

from modules.checkpoints.late_checkpoints import LateCheckpoints
from utils.i18n import UserError

_MOST_STATES = 200


@dataclass(frozen=True, slots=True)
class FileVersion:
    """The file as it was at *path*, written at *modified* (seconds since the epoch).

    *snapshot* is the checkpoint that holds it; *size* is in bytes.
    """

    snapshot: int
    path: str
    size: int
    modified: float


def file_versions(checkpoints: LateCheckpoints, paths: Sequence[str]) -> list[FileVersion]:
    """Return the states of the file that is or was at *paths*, the newest first.

    Each content once. The state that no checkpoint holds, as after a change by hand, is not one.
    """
    if not checkpoints.exist():
        return []
    from modules.checkpoints.store.object_store import DamagedObject  # loaded with checkpoints

    found: dict[str, FileVersion] = {}
    for snapshot in checkpoints.get().index.newest(_MOST_STATES):
        for path in paths:
            try:
                entry = checkpoints.get().entry_at(snapshot, path)
            except (DamagedObject, UserError):  # others may be whole
                continue
            if entry is None or not stat.S_ISREG(entry.mode) or entry.not_stored_reason:
                continue
            version = FileVersion(snapshot, path, entry.size, entry.mtime_ns / 1e9)
            found.setdefault(entry.content, version)
            break
    return sorted(found.values(), key=lambda version: version.modified, reverse=True)


def version_content(checkpoints: LateCheckpoints, version: FileVersion) -> bytes | None:
    """Return what the file held, None where that is no longer kept."""
    from modules.checkpoints.store.object_store import DamagedObject

    try:
        return checkpoints.get().content_at(version.snapshot, version.path)
    except (DamagedObject, UserError):
        return None
