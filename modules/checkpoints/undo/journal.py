"""An undo, a redo or a rewind as a whole: what is done of it, and what is still to be done.

It is kept with the journal of the files. What is done to these and what is written down of it go
to disk in one transaction, so that a kill leaves no state in which the one is done and not the
other; what is still to be done beside the files (notes, focus, the conversation) stays there until
it is done as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from utils.text.codec import from_plain, to_plain

Span = tuple[int, int]
"""The numbers of the snapshots before and after something."""

Kind = Literal[
    "nothing", "taking", "taking with commits", "undo", "rewind", "refusal", "redo", "again"
]
"""What is written down: "nothing", also for the "taking" of what was changed in a clone, with or
without what git keeps; an undo, a rewind, or an undo of what the person refused, each as a record
of its own; that such a record was taken back; that calls were brought again."""


@dataclass(frozen=True, slots=True)
class OperationPart:
    """Changes between two snapshots that are to go, which are those of *calls*.

    Without *after* (0) the folder is to be as it was *before*, whatever it is now.
    """

    before: int
    after: int = 0
    calls: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoOperation:
    """*parts* are still to be done to the files, the first one now; *rest* is for the session.

    *undo* is the number of the record that it makes or takes back; *spans* are the snapshots around
    what is done of it. *is_refused* says that the system did not let all of it be done.
    """

    kind: Kind = "nothing"
    session: str = ""
    parts: tuple[OperationPart, ...] = ()
    undo: int = 0
    spans: tuple[Span, ...] = ()
    is_refused: bool = False
    rest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether anything of it is still to be done."""
        return bool(self.parts or self.rest)

    def after_part(self, span: Span, *, is_refused: bool) -> UndoOperation:
        """Return what it is when its first part is done."""
        return replace(
            self,
            parts=self.parts[1:],
            spans=(*self.spans, span),
            is_refused=self.is_refused or is_refused,
        )

    def encode(self) -> str:
        return json.dumps(to_plain(self)) if self != UndoOperation() else ""

    @classmethod
    def decode(cls, text: str) -> UndoOperation:
        """Return what `encode` made. Raises `ValueError`, `TypeError`, `LookupError`."""
        plain = json.loads(text) if text else {}
        spans = tuple((before, after) for before, after in plain.pop("spans", ()))
        made: UndoOperation = from_plain(cls, plain)
        return replace(made, spans=spans)
