"""What is to be done to bring a folder from one state to another, as values."""

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

_LONGEST_NAME = 230  # bytes; with what is added to it, a name stays below the usual 255


@dataclass(frozen=True, slots=True)
class Operation:
    """*path* is to become *new* if it still is *old*; None is for nothing being there.

    Sides that look alike mean a folder whose times the other steps disturb and which gets them
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
    """A path that an undo left as it is, and why; *is_gone* if it could not be brought back.

    *is_passing* says that the same undo may succeed with it another time.
    """

    path: str
    why: Phrase
    is_gone: bool = False
    is_passing: bool = False


@dataclass(slots=True)
class Plan:
    """*moves* come first, in order; the paths of *steps* are those after the moves."""

    moves: list[Rename] = field(default_factory=list)
    steps: list[Operation] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    left: list[Skipped] = field(default_factory=list)

    def encode(self) -> bytes:
        steps = [[step.path, step.old, step.new] for step in self.steps]
        rest = to_plain([self.moves, self.conflicts, self.left])
        return zlib.compress(json.dumps([steps, *rest]).encode(), 1)

    @classmethod
    def decode(cls, data: bytes) -> Plan:
        steps, moves, conflicts, left = json.loads(zlib.decompress(data))
        return cls(
            from_plain(list[Rename], moves),
            [Operation(path, _entry(old), _entry(new)) for path, old, new in steps],
            from_plain(list[Conflict], conflicts),
            from_plain(list[Skipped], left),
        )


def names_beside(path: str) -> Iterator[str]:
    """Yield names for a second version of *path*, to take the first free one of."""
    folder, _, name = path.rpartition("/")
    short = os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])
    yield join(folder, f"{short}.undo-conflict")
    number = 2
    while True:
        yield join(folder, f"{short}.undo-conflict-{number}")
        number += 1


def _entry(plain: list[object] | None) -> Entry | None:
    return None if plain is None else Entry(*plain)  # type: ignore[arg-type]
