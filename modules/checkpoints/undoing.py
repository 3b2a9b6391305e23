"""Taking back what calls did, in any order, and bringing it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modules.checkpoints.accepted import alike
from modules.checkpoints.checkpoints import Checkpoints, Undone
from modules.checkpoints.ledger import CallRecord, Span, UndoRecord


class Undoing:
    """Undoes calls over *checkpoints* and writes down in its ledger what was done.

    Whatever came later is merged with, so any call can be taken back, not the last alone.
    """

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints
        self._ledger = checkpoints.ledger

    def undo(self, session: str, calls: Sequence[CallRecord]) -> tuple[int, list[Undone]]:
        """Take back *calls*, in their order, the last first; neighbours in one go.

        Returns the number of the undo, and what it did; without *calls* it did nothing to files.
        Calls of which the system refused something still stand, and can be taken back again.
        """
        number = 0
        results: list[Undone] = []
        done: list[int] = []
        try:
            for (before, after), together in joined(calls):
                results.append(self._checkpoints.undo(before, after))
                if not was_refused(results[-1]):
                    done += together
        finally:
            if results or not calls:
                spans = [(result.before, result.after) for result in results]
                number = self._ledger.add_undo(session, sorted(done), spans)
        return number, results

    def redo(self, undo: UndoRecord) -> list[Undone]:
        """Take back an undo or a rewind; it still stands when the system refused something."""
        results = [self._checkpoints.undo(*span) for span in reversed(undo.spans)]
        if not any(map(was_refused, results)):
            self._ledger.mark_redone(undo)
        return results

    def bring_again(self, calls: Sequence[CallRecord]) -> list[Undone]:
        """Let *calls*, which were taken back, have been again: their changes on top of what is."""
        results: list[Undone] = []
        for (before, after), together in reversed(joined(calls)):
            results.append(self._checkpoints.undo(after, before))
            self._ledger.mark_again(together)
        return results

    def undo_of(self, session: str, calls: Sequence[CallRecord]) -> UndoRecord | None:
        """Return the undo that took back just *calls* and stands."""
        wanted = {call.id for call in calls}
        return next((u for u in self._ledger.undos(session) if set(u.calls) == wanted), None)

    def by_nobody(self, session: str, calls: Sequence[CallRecord], result: Undone) -> Iterator[str]:
        """Yield the paths of what changed between *calls*, and after them until *result*.

        What an earlier undo of *session* left so does not count. Paths may come twice.
        """
        last = result.before, result.after
        ends = [*(call.before for call in calls[1:]), last[0]]
        for call, end in zip(calls, ends, strict=True):
            if call.after:
                yield from self._unexplained(session, (call.after, end), last)

    def _unexplained(self, session: str, gap: Span, last: Span) -> set[str]:
        """Return what changed between two snapshots, but for what an undo before *last* left so."""
        found = {change.new_path or change.path for change in self._checkpoints.diff(*gap)}
        spans = {span for undo in self._ledger.undos(session) for span in undo.spans}
        for before, after in spans - {last} if found else ():
            for change in self._checkpoints.diff(before, after):
                for path in found & {change.path, change.new_path}:
                    now, left = (self._checkpoints.entry(state, path) for state in (gap[1], after))
                    if alike(now, left):
                        found.discard(path)
        return found

    def note(self, session: str, result: Undone) -> int:
        """Write down an undo of what no single call did; return its number."""
        return self._ledger.add_undo(session, [], [(result.before, result.after)])


def was_refused(result: Undone) -> bool:
    """Return whether the system did not let all of it be done, so that it is worth another try."""
    return any(left.is_passing for left in result.left)


def joined(calls: Sequence[CallRecord]) -> list[tuple[Span, list[int]]]:
    """Return the spans of *calls*, the last first, each with the ids of its calls.

    Neighbours that meet become one.
    """
    spans: list[tuple[Span, list[int]]] = []
    for call in reversed(calls):
        assert call.after is not None  # noqa: S101 - only calls that ended are undone
        if spans and spans[-1][0][0] == call.after:
            (_, after), together = spans[-1]
            spans[-1] = (call.before, after), [*together, call.id]
        else:
            spans.append(((call.before, call.after), [call.id]))
    return spans
