"""Attribution of changes: those of a session's calls, told from what others did meanwhile."""

from __future__ import annotations

from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.undo.journal import Span


class SessionChanges:
    """Attribution of changed paths to a session, over *checkpoints*."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints
        self._cache: dict[tuple[Span, bool], frozenset[str]] = {}

    def paths(self, session: str, turn: int = 0) -> set[str]:
        """Return what calls since *turn* changed that are not undone, and what undos made anew.

        What others did while such a call ran counts as its own. Raises `UserError`.
        """
        index = self._checkpoints.index
        changed: set[str] = set()
        for call in index.calls(session):
            if call.after is not None and call.turn >= turn and not call.is_undone:
                changed |= self._changed((call.before, call.after))
        for undo in index.undos(session):  # the copy of a file that two had changed
            for span in undo.spans:
                changed |= self._changed(span, only_new=True)
        return changed

    def _changed(self, span: Span, *, only_new: bool = False) -> frozenset[str]:
        """Return the paths that differ between two snapshots, the old ones of moved files too."""
        if (span, only_new) not in self._cache:
            changes = self._checkpoints.diff(*span)
            self._cache[span, only_new] = frozenset(
                path
                for change in changes
                if change.kind == "created" or not only_new
                for path in (change.path, change.new_path)
                if path
            )
        return self._cache[span, only_new]
