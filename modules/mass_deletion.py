"""A pause before a loss: a run that deleted much, or what no checkpoint holds, is shown to the
person before anything goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from core.cards import Change, TreeCard, TreeEntry
from core.feature import Feature, PostRunConfirmation
from core.hooks import ConfirmsCalls
from core.tools import Risk, Tool
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible
from utils.text.lines import first_names, format_size
from utils.waiting import Stop

ALWAYS_ASK_ABOVE = 20
"""More deleted files than these are always asked about."""
NEVER_ASK_BELOW = 3
"""Fewer than these never are, however small the folder is."""
_MAX_SHOWN = 200
_SIGNS = {"created": "+", "modified": "~", "deleted": "-", "renamed": ">"}


class Undo(Protocol):
    """The changes that calls made, and the way back."""

    def changes_of(self, call_id: str) -> Sequence[Change]: ...

    def size_of(self, call_id: str, change: Change) -> int | None:
        """Return the bytes of a file that the call changed, None for a folder."""

    def lost_files(self) -> Sequence[str]:
        """Return the files that the last call deleted and no checkpoint holds."""

    def overwritten_files(self, stop: Stop) -> Sequence[str]:
        """Return those in the place of which it put others, or other content."""

    def undo_call(self, call_id: str) -> bool:
        """Undo the call; return whether all of it could be."""


class MassDeletionGuard(Feature, ConfirmsCalls):
    """Asks whether to keep what a call did when it deleted many files, or most there were, or
    deleted or overwrote one that no checkpoint holds.

    *files* returns those that are in the folder now.
    """

    def __init__(self, undo: Undo, files: Callable[[], Sequence[str]]) -> None:
        self._undo = undo
        self._files = files

    def confirm_after(self, tool: Tool, call_id: str, stop: Stop) -> PostRunConfirmation | None:
        if tool.risk is not Risk.RUN:
            return None
        changes = self._undo.changes_of(call_id)
        what = self._loss_of_much(changes) or self._loss_for_good(call_id, changes, stop)
        if what is None:
            return None
        tree = tree_of(changes, lambda change: self._undo.size_of(call_id, change))
        return PostRunConfirmation(what, tree, lambda: self._revert(call_id))

    def _loss_of_much(self, changes: Sequence[Change]) -> Phrase | None:
        """Return what is lost, None where it is not much."""
        deleted = sum(change.kind == "deleted" for change in changes)
        if deleted < NEVER_ASK_BELOW:
            return None
        created = sum(change.kind == "created" for change in changes)
        files_before = len(self._files()) - created + deleted
        if deleted <= ALWAYS_ASK_ABOVE and deleted * 2 <= files_before:
            return None
        return phrase("It deleted {gone:,} of {all:,} files.", gone=deleted, all=files_before)

    def _loss_for_good(self, call_id: str, changes: Sequence[Change], stop: Stop) -> Phrase | None:
        """Return what could not be brought back later, None where there is no such thing."""
        if not changes:
            return None
        lost, overwritten = self._undo.lost_files(), self._undo.overwritten_files(stop)
        if not (lost or overwritten):
            return None
        by_path = {change.path: change for change in changes}
        sized = [self._with_size(call_id, by_path.get(path), path)
                 for path in sorted((*lost, *overwritten))]  # fmt: skip
        if overwritten:
            return phrase(
                "It overwrote or deleted files that no checkpoint holds: {names}. Undo cannot "
                "restore them later.",
                names=first_names(sized),
            )
        return phrase(
            "It deleted files that no checkpoint holds: {names}. Undo cannot restore them later.",
            names=first_names(sized),
        )

    def _with_size(self, call_id: str, change: Change | None, path: str) -> str:
        size = self._undo.size_of(call_id, change) if change else None
        return visible(path) if size is None else f"{visible(path)} ({format_size(size)})"

    def _revert(self, call_id: str) -> None:
        if not self._undo.undo_call(call_id):
            raise UserError(
                phrase("Not everything could be restored; /diff shows what is missing.")
            )


def tree_of(changes: Sequence[Change], size: Callable[[Change], int | None]) -> TreeCard:
    """Return what happened as a tree, each folder with the number of changes below it."""
    counts: Counter[str] = Counter()
    for change in changes:
        for folder in _folders(change.path):
            counts[folder] += 1
    entries: list[TreeEntry] = []
    listed: set[str] = set()
    for change in sorted(changes, key=lambda change: change.path):
        for depth, folder in enumerate(_folders(change.path)):
            if folder not in listed:
                listed.add(folder)
                entries.append(TreeEntry(visible(folder), depth, None, f"{counts[folder]:,}"))
        note = f"{_SIGNS[change.kind]} {visible(change.new_path)}".rstrip()
        bytes_ = size(change) if len(entries) < _MAX_SHOWN else 0  # the others are not shown
        entries.append(TreeEntry(visible(change.path), change.path.count("/"), bytes_, note))
    return TreeCard("", tuple(entries[:_MAX_SHOWN]), max(0, len(entries) - _MAX_SHOWN))


def _folders(path: str) -> list[str]:
    """Return the folders above *path*, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]
