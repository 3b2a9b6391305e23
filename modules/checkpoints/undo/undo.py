"""Taking back what calls did, in any order, and bringing it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from modules.checkpoints.snapshot.entries import same_except_mtime
from modules.checkpoints.undo.journal import OperationPart, Span, UndoOperation
from modules.checkpoints.undo.undo_results import FinishedOperation, UndoResult

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints
    from modules.checkpoints.store.index import CallRecord, UndoRecord


class Undoer:
    """Undoes calls over *checkpoints* and records in its index what was done.

    Whatever came later is merged with, so any call can be taken back, not the last alone.
    """

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints
        self._index = checkpoints.index

    def undo(
        self, session: str, calls: Sequence[CallRecord], rest: Mapping[str, Any] | None = None
    ) -> FinishedOperation:
        """Take back *calls*, in their order, the last first; neighbours in one go.

        Calls of which the system refused something still stand, and can be taken back again.
        *rest* is what is to be done beside the files.
        """
        operation = UndoOperation("undo", session, parts_of(calls), rest=rest or {})
        return self._checkpoints.run(operation)

    def undo_refused(self, session: str, call: CallRecord) -> FinishedOperation:
        """Take back *call*, which the person refused: nothing ever brings it again."""
        return self._checkpoints.run(UndoOperation("refusal", session, parts_of([call])))

    def rewind(
        self,
        session: str,
        before: int | None,
        calls: Sequence[CallRecord],
        rest: Mapping[str, Any],
    ) -> FinishedOperation:
        """Bring the folder back to the snapshot *before*, and so take back *calls*.

        None leaves the folder as it is.
        """
        parts = (
            () if before is None else (OperationPart(before, 0, tuple(call.id for call in calls)),)
        )
        return self._checkpoints.run(UndoOperation("rewind", session, parts, rest=rest))

    def redo(self, session: str, undo: UndoRecord, rest: Mapping[str, Any]) -> FinishedOperation:
        """Take back an undo or a rewind; it still stands when the system refused something."""
        spans = list(reversed(undo.spans))
        parts = [OperationPart(*span, undo.calls if span is spans[-1] else ()) for span in spans]
        operation = UndoOperation("redo", session, tuple(parts), undo.id, rest=rest)
        return self._checkpoints.run(operation)

    def reapply(
        self, session: str, calls: Sequence[CallRecord], rest: Mapping[str, Any]
    ) -> FinishedOperation:
        """Apply *calls*, which were undone, again: their changes on top of what is there now."""
        parts = [replace(p, before=p.after, after=p.before) for p in reversed(parts_of(calls))]
        return self._checkpoints.run(UndoOperation("again", session, tuple(parts), rest=rest))

    def effective_undo_of(self, session: str, calls: Sequence[CallRecord]) -> UndoRecord | None:
        """Return the undo that took back just *calls* and stands."""
        call_ids = {call.id for call in calls}
        return next((u for u in self._index.undos(session) if set(u.calls) == call_ids), None)

    def unattributed_paths(
        self, session: str, calls: Sequence[CallRecord], result: UndoResult
    ) -> Iterator[str]:
        """Yield the paths of what changed between *calls*, and after them until *result*.

        What an earlier undo of *session* left so does not count. Paths may come twice.
        """
        undo_span = result.before, result.after
        next_snapshots = [*(call.before for call in calls[1:]), undo_span[0]]
        for call, end in zip(calls, next_snapshots, strict=True):
            if call.after:
                yield from self._unexplained(session, (call.after, end), undo_span)

    def _unexplained(self, session: str, gap: Span, last: Span) -> set[str]:
        """Return what changed between two snapshots, but for what an undo before *last* left so."""
        unexplained = {change.new_path or change.path for change in self._checkpoints.diff(*gap)}
        spans = {span for undo in self._index.undos(session) for span in undo.spans}
        for before, after in spans - {last} if unexplained else ():
            for change in self._checkpoints.diff(before, after):
                for path in unexplained & {change.path, change.new_path}:
                    now, left_by_undo = (
                        self._checkpoints.entry_at(state, path) for state in (gap[1], after)
                    )
                    if same_except_mtime(now, left_by_undo):
                        unexplained.discard(path)
        return unexplained


def parts_of(calls: Sequence[CallRecord]) -> tuple[OperationPart, ...]:
    """Return the parts that *calls* are, the last first; neighbours that meet become one."""
    parts: list[OperationPart] = []
    for call in reversed(calls):
        assert call.after is not None  # noqa: S101 - only calls that ended are undone
        if parts and parts[-1].before == call.after:
            last = parts[-1]
            parts[-1] = replace(last, before=call.before, calls=(*last.calls, call.id))
        else:
            parts.append(OperationPart(call.before, call.after, (call.id,)))
    return tuple(parts)
