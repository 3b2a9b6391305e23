"""Past contents of files, as far as checkpoints hold them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from modules.checkpoints.late_checkpoints import LateCheckpoints
from utils.i18n import UserError

_MOST_STATES = 200


def past_contents(checkpoints: LateCheckpoints, path: str) -> Iterator[bytes]:
    """Yield what the file *path* held, the newest first; nothing where no state is kept."""
    if not checkpoints.exist():
        return
    from modules.checkpoints.store.object_store import DamagedObject  # loaded with checkpoints

    last: bytes | None = None
    for snapshot in checkpoints.get().index.newest(_MOST_STATES):
        with suppress(DamagedObject, UserError):  # an older state may do
            data = checkpoints.get().content_at(snapshot, path)
            if data is not None and data != last:
                last = data
                yield data


def hold_now(checkpoints: LateCheckpoints) -> None:
    """Hold what the folder is now, if that can be held."""
    with suppress(UserError):
        checkpoints.get().take()
