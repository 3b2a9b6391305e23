"""Review of a session's changes, to accept or to revert: by file, and by hunk."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.restore.merge3 import merge_preferring_theirs
from modules.checkpoints.restore.tree_builder import TreeBuilder
from modules.checkpoints.review.accepted import AcceptedChanges, mode_of
from modules.checkpoints.review.attribution import SessionChanges
from modules.checkpoints.review.hunks import Hunk, apply_hunk, hunks, revert_hunk
from modules.checkpoints.snapshot.diff import Difference, TreeDiff, lookup
from modules.checkpoints.snapshot.entries import EXPECTED_REASONS, REASONS, Entry, same_content
from modules.checkpoints.store.index import Snapshot
from modules.checkpoints.store.object_store import DamagedObject
from modules.checkpoints.undo.journal import OperationPart as FilesPart
from modules.checkpoints.undo.journal import UndoOperation
from modules.checkpoints.undo.undo_results import FinishedOperation
from modules.files.editing.text_file import NotEncodable, NotRoundTrip, NotText, TextFile
from utils.i18n import Text, UserError, phrase
from utils.text.clean import visible

_MAX_TEXT_BYTES = 2_000_000  # bytes
_MAX_CACHED = 500  # pairs of contents whose hunks are known


@dataclass(frozen=True, slots=True)
class ReviewView:
    """View of a review: from the root *base* to the snapshot *now*, in the session since its start.

    It *is_whole* if it is all of the session, and not what came since a later turn.
    """

    session: str
    session_start: Entry
    base: Entry
    now: Snapshot
    is_whole: bool


@dataclass(frozen=True, slots=True)
class ReviewPart:
    """One hunk of a file, or all of it where *hunk* is -1.

    *old* is the digest of the text that the hunk was seen against; see `ReviewedFile`.
    """

    path: str
    hunk: int = -1
    old: str = ""


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """A changed file; *hunks* is None where its change cannot be shown as text.

    *is_divisible* says whether the hunks can be accepted and taken back one by one.
    """

    difference: Difference
    old: str
    hunks: tuple[Hunk, ...] | None
    note: Text
    is_divisible: bool

    @property
    def path(self) -> str:
        return self.difference.change.new_path or self.difference.change.path


class Review:
    """Reviews sessions over *checkpoints*, for several threads. Everything raises `UserError`."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints
        self._objects = checkpoints.objects
        self._accepted = AcceptedChanges(self._objects, checkpoints.index)
        self.session_changes = SessionChanges(checkpoints)
        self._lock = threading.Lock()
        self._hunk_cache: OrderedDict[tuple[str, str], tuple[Hunk, ...] | None] = OrderedDict()

    def view(self, session: str, session_start: int, since: int, now: int) -> ReviewView:
        """Return the view from the snapshot *since* to *now*, without what was accepted."""
        root_of = self._checkpoints.root_of
        snapshot = self._checkpoints.index.snapshot(now)
        with self._objects.locked():
            base = self._accepted.base_with_accepted(session, root_of(since), snapshot.root)
            return ReviewView(
                session, root_of(session_start), base, snapshot, is_whole=session_start == since
            )

    def changes(self, view: ReviewView) -> list[Difference]:
        """Return what there is to review, sorted by path; git's own data never is."""
        with self._objects.locked():
            differences = TreeDiff(self._objects).compare(view.base, view.now.root).differences()
        reviewable = [
            one
            for one in differences
            if not any(e and e.not_stored_reason in EXPECTED_REASONS for e in one[2:])
        ]
        return sorted(reviewable, key=lambda one: one.change.new_path or one.change.path)

    def review_file(self, difference: Difference) -> ReviewedFile:
        old, new = difference.old, difference.new
        notes = _notes(difference)
        key = old.content if old is not None and old.is_file else ""
        if any(entry is not None and entry.is_folder for entry in (old, new)):
            return ReviewedFile(difference, key, (), _join_notes([*notes, phrase("folder")]), False)
        if old is not None and new is not None and same_content(old, new):
            return ReviewedFile(difference, key, (), _join_notes(notes), False)
        if any(entry is not None and entry.is_node for entry in (old, new)):
            return ReviewedFile(
                difference, key, None, _join_notes([*notes, phrase("a pipe or socket")]), False
            )
        try:
            parts = self._hunks(old, new)
        except NotText as error:
            kind = phrase("binary data") if error.kind == "binary data" else error.kind
            return ReviewedFile(difference, key, None, _join_notes([*notes, kind]), False)
        except DamagedObject:
            return ReviewedFile(
                difference, key, None, phrase("its saved content is damaged"), False
            )
        if parts is None:
            reason = phrase("its content was not saved or is too large to show")
            return ReviewedFile(difference, key, None, _join_notes([*notes, reason]), False)
        if not parts:
            is_whole_file = old is None or new is None
            notes.append(
                phrase("an empty file")
                if is_whole_file
                else phrase("only the encoding or the line endings changed")
            )
        are_files = all(entry is not None and entry.is_file for entry in (old, new))
        return ReviewedFile(difference, key, parts, _join_notes(notes), are_files and bool(parts))

    def revert(
        self, view: ReviewView, part: ReviewPart, rest: Mapping[str, Any]
    ) -> FinishedOperation:
        """Revert *part* in the folder, and merge with what changed since it was seen.

        *rest* is what is to be done beside that.
        """
        with self._locked():
            difference = self._find(view, part.path)
            builder = TreeBuilder(self._objects, view.now.root, view.base)
            if part.hunk >= 0:
                builder.put(part.path, self._without_hunk(difference, part))
            elif difference.change.kind == "renamed":
                builder.put(difference.change.new_path, None)
                builder.put(difference.old_path, difference.new)
            else:
                builder.put(part.path, difference.old)
            operation = UndoOperation("undo", view.session, (FilesPart(0),), rest=rest)
            return self._checkpoints.run(operation, (builder.build(), view.now.root))

    def accept(self, view: ReviewView, parts: Sequence[ReviewPart]) -> None:
        """Accept *parts*: they are shown no longer."""
        with self._locked():
            session_start, root = self._accepted.roots(view.session, view.session_start)
            builder = TreeBuilder(self._objects, root, view.now.root)
            for part in parts:
                self._accept(builder, self._find(view, part.path), part)
            self._accepted.save(view.session, session_start, builder.build())

    def accept_all(self, view: ReviewView, is_selected: Callable[[Difference], bool]) -> None:
        """Accept all changes that *is_selected*: they are shown no longer."""
        with self._locked():
            changes = self.changes(view)
            selected = list(filter(is_selected, changes))
            if view.is_whole and len(selected) == len(changes):
                self._accepted.save(view.session, view.session_start, view.now.root)
                return
            session_start, root = self._accepted.roots(view.session, view.session_start)
            builder = TreeBuilder(self._objects, root, view.now.root)
            for difference in selected:
                self._accept(builder, difference, ReviewPart(difference.change.path))
            self._accepted.save(view.session, session_start, builder.build())

    def has_accepted(self, session: str) -> bool:
        return self._checkpoints.index.accepted(session) is not None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the object store. Damage found in it is raised as a `UserError`."""
        with self._objects.locked():
            try:
                yield
            except DamagedObject:
                raise UserError(
                    phrase("Cannot do this: the folder's saved content is damaged.")
                ) from None

    def _accept(self, builder: TreeBuilder, difference: Difference, part: ReviewPart) -> None:
        if part.hunk >= 0:
            builder.put(difference.old_path, self._with_hunk(builder, difference, part))
        elif difference.change.kind == "renamed":
            builder.put(difference.old_path, None)
            builder.put(difference.change.new_path, difference.old)
        else:
            builder.put(difference.old_path, difference.new)

    def _find(self, view: ReviewView, path: str) -> Difference:
        for difference in self.changes(view):
            if path == (difference.change.new_path or difference.change.path):
                return difference
        raise UserError(_CHANGE_GONE)

    def _without_hunk(self, difference: Difference, part: ReviewPart) -> Entry:
        """Return the file as it is now, but for one hunk."""
        old, new, hunk = self._texts(difference, part)
        assert difference.old is not None and difference.new is not None  # noqa: S101, PT018 - see _texts
        data = _encode(part.path, new, revert_hunk(old.text, new.text, hunk))
        if data == old.data:
            return difference.old._replace(mode=difference.new.mode)
        return _with_content(difference.new, self._objects.put(data), len(data))

    def _with_hunk(self, builder: TreeBuilder, difference: Difference, part: ReviewPart) -> Entry:
        """Return what was accepted of the file, and one hunk more."""
        old, new, hunk = self._texts(difference, part)
        assert difference.old is not None and difference.new is not None  # noqa: S101, PT018 - see _texts
        text = apply_hunk(old.text, new.text, hunk)
        try:
            data = old.encode(text)
        except (NotEncodable, NotRoundTrip):
            data = _encode(part.path, TextFile("", new.encoding, new.newline, new.bom), text)
        accepted = lookup(self._objects, builder.root, difference.old_path)
        if accepted is None or not accepted.is_file:
            accepted = difference.new
        elif accepted.content != difference.old.content:
            data = merge_preferring_theirs(old.data, self._objects.read(accepted.content), data)
        return _with_content(accepted, self._objects.put(data), len(data))

    def _texts(self, difference: Difference, part: ReviewPart) -> tuple[TextFile, TextFile, Hunk]:
        """Return both sides of a file, and the hunk that is meant. Raises `UserError`."""
        reviewed = self.review_file(difference)
        is_there = reviewed.hunks is not None and part.hunk < len(reviewed.hunks)
        if not reviewed.is_divisible or not is_there or part.old != reviewed.old:
            raise UserError(_CHANGE_GONE)
        assert difference.old is not None and difference.new is not None  # noqa: S101, PT018 - divisible
        sides = [
            TextFile.decode(self._objects.read(side.content))
            for side in (difference.old, difference.new)
        ]
        return sides[0], sides[1], (reviewed.hunks or ())[part.hunk]

    def _hunks(self, old: Entry | None, new: Entry | None) -> tuple[Hunk, ...] | None:
        """Return what differs between two files or links, None where that cannot be shown."""
        if any(
            entry and (entry.not_stored_reason or entry.size > _MAX_TEXT_BYTES)
            for entry in (old, new)
        ):
            return None
        key = old.content if old else "", new.content if new else ""
        with self._lock:
            if key in self._hunk_cache:
                self._hunk_cache.move_to_end(key)
                return self._hunk_cache[key]
        parts = hunks(self._text(old), self._text(new))
        result = None if parts is None else tuple(parts)
        with self._lock:
            self._hunk_cache[key] = result
            while len(self._hunk_cache) > _MAX_CACHED:
                self._hunk_cache.popitem(last=False)
        return result

    def _text(self, entry: Entry | None) -> str:
        if entry is None:
            return ""
        if entry.is_link:
            return entry.content
        return TextFile.decode(self._objects.read(entry.content)).text


_CHANGE_GONE = phrase("That change no longer exists: the file has changed. Look again.")


def _encode(path: str, file: TextFile, text: str) -> bytes:
    try:
        return file.encode(text)
    except (NotEncodable, NotRoundTrip):
        raise UserError(
            phrase(
                "{path} cannot be undone in part in its encoding. Undo the whole file.",
                path=visible(path),
            )
        ) from None


def _with_content(entry: Entry, content: str, size: int) -> Entry:
    """Return *entry* with another content; it is a file of its own then."""
    return entry._replace(
        content=content, size=size, mtime_ns=time.time_ns(), inode=0, device=0, links=1
    )


def _notes(difference: Difference) -> list[Text]:
    notes: list[Text] = []
    change, old, new = difference.change, difference.old, difference.new
    if change.kind == "renamed":
        notes.append(phrase("renamed from {path}", path=visible(change.path)))
    if old is not None and new is not None and old.mode != new.mode:
        notes.append(phrase("mode {old} → {new}", old=mode_of(old), new=mode_of(new)))
    if old is not None and new is not None and old.metadata != new.metadata:
        notes.append(phrase("other attributes"))
    for entry in (old, new):
        if entry is not None and entry.not_stored_reason:
            notes.append(REASONS[entry.not_stored_reason])
    return notes


def _join_notes(notes: Sequence[Text]) -> Text:
    if len(notes) < 2:
        return notes[0] if notes else ""
    return phrase("{one}; {more}", one=notes[0], more=_join_notes(notes[1:]))
