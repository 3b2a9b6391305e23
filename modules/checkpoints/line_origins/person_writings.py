"""The record of what the person writes in Onefold, beside the calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from modules.checkpoints.store.writings import PERSON, add_file, add_span
from utils.i18n import UserError

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints

_MAX_BYTES = 5_000_000  # bytes of a text that is kept for this alone


def record_file(checkpoints: Checkpoints, path: str, before: bytes | None, after: bytes) -> None:
    """Record that the person made *after* of what the file *path* held, if that can be kept."""
    if max(len(before or b""), len(after)) > _MAX_BYTES:
        return
    objects = checkpoints.objects
    with suppress(UserError), objects.locked():
        digests = ["" if data is None else objects.put(data) for data in (before, after)]
        with objects.database.writing() as connection:
            add_file(connection, path, *digests)


@contextmanager
def recording_person(checkpoints: Checkpoints) -> Iterator[None]:
    """Record what the block does to the folder as the person's, if that can be kept."""
    before = 0
    with suppress(UserError):
        before = checkpoints.take().id
    try:
        yield
    finally:
        with suppress(UserError):
            after = checkpoints.take().id
            if before and after != before:
                with checkpoints.objects.database.writing() as connection:
                    add_span(connection, PERSON, "", (before, after), 0)
