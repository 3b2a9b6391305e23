"""Plan of operations that bring a folder from one state to another; values only."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from modules.checkpoints.snapshot.diff import Rename
from modules.checkpoints.snapshot.entries import Entry, join
from utils.i18n import Phrase
from utils.text.codec import from_plain, to_plain

_MAX_NAME_BYTES = 230  # bytes; with what is added to it, a name stays below the usual 255


@dataclass(frozen=True, slots=True)
class PathOperation:
    """Turns *path* into *new* if it still is *old*; None is for nothing being there.

    Equal sides mean a folder whose times the other operations change and which gets them
    back, or a file that is to be joined with its other names, or parted from those it has.
    """

    path: str
    old: Entry | None
    new: Entry | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """*path* stayed as the person has it; what the undo would have put there is at *beside*."""

    path: str
    beside: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Path that an undo left as it is, and why; *is_gone* if it could not be brought back.

    *is_passing* says that the same undo may succeed with it another time.
    """

    path: str
    why: Phrase
    is_gone: bool = False
    is_passing: bool = False


@dataclass(slots=True)
class Plan:
    """Renames come first, in order; the paths of *operations* are those after them.

    *git* brings the state of the project's repository from one to another; None is for no
    repository being there.
    """

    renames: list[Rename] = field(default_factory=list)
    operations: list[PathOperation] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    git: tuple[Entry | None, Entry | None] | None = None

    def encode(self) -> bytes:
        operations = [
            [operation.path, operation.old, operation.new] for operation in self.operations
        ]
        rest = to_plain([self.renames, self.conflicts, self.skipped])
        return zlib.compress(json.dumps([operations, *rest, self.git]).encode(), 1)

    @classmethod
    def decode(cls, data: bytes) -> Plan:
        operations, renames, conflicts, skipped, *more = json.loads(zlib.decompress(data))
        git = more[0] if more else None  # a journal of before had none
        return cls(
            from_plain(list[Rename], renames),
            [
                PathOperation(path, _entry_from_row(old), _entry_from_row(new))
                for path, old, new in operations
            ],
            from_plain(list[Conflict], conflicts),
            from_plain(list[Skipped], skipped),
            (_entry_from_row(git[0]), _entry_from_row(git[1])) if git else None,
        )


def conflict_names(path: str) -> Iterator[str]:
    """Yield names for a second version of *path*, to take the first free one of."""
    folder, _, name = path.rpartition("/")
    short = os.fsdecode(os.fsencode(name)[:_MAX_NAME_BYTES])
    yield join(folder, f"{short}.undo-conflict")
    number = 2
    while True:
        yield join(folder, f"{short}.undo-conflict-{number}")
        number += 1


def _entry_from_row(plain: list[object] | None) -> Entry | None:
    return None if plain is None else Entry(*plain)  # type: ignore[arg-type]
