"""What changed in a session, for a person to accept or to take back: by file, and by hunk."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.restore.merge3 import preferring
from modules.checkpoints.restore.tree_builder import TreeBuilder
from modules.checkpoints.review.accepted import Accepted, mode_of
from modules.checkpoints.review.attribution import Own
from modules.checkpoints.review.hunks import Hunk, hunks, with_only, without
from modules.checkpoints.snapshot.diff import Difference, TreeDiff, lookup
from modules.checkpoints.snapshot.entries import BY_DESIGN, REASONS, Entry, same_content
from modules.checkpoints.store.index import Snapshot
from modules.checkpoints.store.object_store import DamagedObject
from modules.checkpoints.undo.journal import OperationPart as FilesPart
from modules.checkpoints.undo.journal import UndoOperation
from modules.checkpoints.undo.undo_results import Finished
from modules.files.editing.text_file import NotEncodable, NotExact, NotText, TextFile
from utils.i18n import Text, UserError, phrase
from utils.text.clean import visible

_LARGEST_TEXT = 2_000_000  # bytes
_REMEMBERED = 500  # pairs of contents whose hunks are known


@dataclass(frozen=True, slots=True)
class ReviewView:
    """What is looked at: from the root *base* to the snapshot *now*, in a session that *began*.

    *is_whole* says whether it is all of the session, and not what came since a later turn.
    """

    session: str
    began: Entry
    base: Entry
    now: Snapshot
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One hunk of a file, or all of it where *hunk* is -1.

    *old* is the digest of the text that the hunk was seen against; see `Reviewed`.
    """

    path: str
    hunk: int = -1
    old: str = ""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A changed file; *hunks* is None where its change cannot be shown as text.

    *is_divisible* says whether the hunks can be accepted and taken back one by one.
    """

    found: Difference
    old: str
    hunks: tuple[Hunk, ...] | None
    note: Text
    is_divisible: bool

    @property
    def path(self) -> str:
        return self.found.change.new_path or self.found.change.path


class Review:
    """Reviews sessions over *checkpoints*, for several threads. Everything raises `UserError`."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints
        self._vault = checkpoints.vault
        self._accepted = Accepted(self._vault, checkpoints.ledger)
        self.own = Own(checkpoints)
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], tuple[Hunk, ...] | None] = OrderedDict()

    def view(self, session: str, began: int, since: int, now: int) -> ReviewView:
        """Return the view from the snapshot *since* to *now*, without what was accepted."""
        root_of = self._checkpoints.root_of
        snapshot = self._checkpoints.ledger.snapshot(now)
        with self._vault.alone():
            base = self._accepted.within(session, root_of(since), snapshot.root)
            return ReviewView(session, root_of(began), base, snapshot, is_whole=began == since)

    def changes(self, view: ReviewView) -> list[Difference]:
        """Return what there is to review, sorted by path; git's own data never is."""
        with self._vault.alone():
            found = TreeDiff(self._vault).compare(view.base, view.now.root).found()
        theirs = [one for one in found if not any(e and e.why in BY_DESIGN for e in one[2:])]
        return sorted(theirs, key=lambda one: one.change.new_path or one.change.path)

    def reviewed(self, found: Difference) -> Reviewed:
        old, new = found.old, found.new
        notes = _notes(found)
        key = old.content if old is not None and old.is_file else ""
        if any(entry is not None and entry.is_folder for entry in (old, new)):
            return Reviewed(found, key, (), _joined([*notes, phrase("folder")]), False)
        if old is not None and new is not None and same_content(old, new):
            return Reviewed(found, key, (), _joined(notes), False)
        if any(entry is not None and entry.is_pipe for entry in (old, new)):
            return Reviewed(found, key, None, _joined([*notes, phrase("a pipe")]), False)
        try:
            parts = self._hunks(old, new)
        except NotText as error:
            what = phrase("binary data") if error.kind == "binary data" else error.kind
            return Reviewed(found, key, None, _joined([*notes, what]), False)
        except DamagedObject:
            return Reviewed(found, key, None, phrase("what was held of it is damaged"), False)
        if parts is None:
            why = phrase("its content is not held or too large to show")
            return Reviewed(found, key, None, _joined([*notes, why]), False)
        if not parts:
            notes.append(phrase("only its encoding or its line ends changed"))
        are_files = all(entry is not None and entry.is_file for entry in (old, new))
        return Reviewed(found, key, parts, _joined(notes), are_files and bool(parts))

    def take_back(self, view: ReviewView, part: Part, rest: Mapping[str, Any]) -> Finished:
        """Take *part* out of the folder again, and merge with what changed since it was seen.

        *rest* is what is to be done beside that.
        """
        with self._undamaged():
            found = self._find(view, part.path)
            graft = TreeBuilder(self._vault, view.now.root, view.base)
            if part.hunk >= 0:
                graft.put(part.path, self._without(found, part))
            elif found.change.kind == "renamed":
                graft.put(found.change.new_path, None)
                graft.put(found.was, found.new)
            else:
                graft.put(part.path, found.old)
            operation = UndoOperation("undo", view.session, (FilesPart(0),), rest=rest)
            return self._checkpoints.run(operation, (graft.done(), view.now.root))

    def accept(self, view: ReviewView, parts: Sequence[Part]) -> None:
        """Show *parts* no longer."""
        with self._undamaged():
            began, root = self._accepted.roots(view.session, view.began)
            graft = TreeBuilder(self._vault, root, view.now.root)
            for part in parts:
                self._accept(graft, self._find(view, part.path), part)
            self._accepted.keep(view.session, began, graft.done())

    def accept_all(self, view: ReviewView, is_meant: Callable[[Difference], bool]) -> None:
        """Show no longer what there is and *is_meant*."""
        with self._undamaged():
            changes = self.changes(view)
            meant = list(filter(is_meant, changes))
            if view.is_whole and len(meant) == len(changes):
                self._accepted.keep(view.session, view.began, view.now.root)
                return
            began, root = self._accepted.roots(view.session, view.began)
            graft = TreeBuilder(self._vault, root, view.now.root)
            for found in meant:
                self._accept(graft, found, Part(found.change.path))
            self._accepted.keep(view.session, began, graft.done())

    def has_accepted(self, session: str) -> bool:
        return self._checkpoints.ledger.accepted(session) is not None

    @contextmanager
    def _undamaged(self) -> Iterator[None]:
        """Keep others out of the vault. What is damaged in it is told as a `UserError`."""
        with self._vault.alone():
            try:
                yield
            except DamagedObject:
                raise UserError(
                    phrase("This cannot be done: what was held of the folder is damaged.")
                ) from None

    def _accept(self, graft: TreeBuilder, found: Difference, part: Part) -> None:
        if part.hunk >= 0:
            graft.put(found.was, self._with_only(graft, found, part))
        elif found.change.kind == "renamed":
            graft.put(found.was, None)
            graft.put(found.change.new_path, found.old)
        else:
            graft.put(found.was, found.new)

    def _find(self, view: ReviewView, path: str) -> Difference:
        for found in self.changes(view):
            if path == (found.change.new_path or found.change.path):
                return found
        raise UserError(_GONE)

    def _without(self, found: Difference, part: Part) -> Entry:
        """Return the file as it is now, but for one hunk."""
        old, new, hunk = self._texts(found, part)
        assert found.old is not None and found.new is not None  # noqa: S101, PT018 - see _texts
        data = _encoded(part.path, new, without(old.text, new.text, hunk))
        if data == old.data:
            return found.old._replace(mode=found.new.mode)
        return _with_text(found.new, self._vault.put(data), len(data))

    def _with_only(self, graft: TreeBuilder, found: Difference, part: Part) -> Entry:
        """Return what was accepted of the file, and one hunk more."""
        old, new, hunk = self._texts(found, part)
        assert found.old is not None and found.new is not None  # noqa: S101, PT018 - see _texts
        text = with_only(old.text, new.text, hunk)
        try:
            data = old.encode(text)
        except (NotEncodable, NotExact):
            data = _encoded(part.path, TextFile("", new.encoding, new.newline, new.bom), text)
        there = lookup(self._vault, graft.root, found.was)
        if there is None or not there.is_file:
            there = found.new
        elif there.content != found.old.content:
            data = preferring(old.data, self._vault.read(there.content), data)
        return _with_text(there, self._vault.put(data), len(data))

    def _texts(self, found: Difference, part: Part) -> tuple[TextFile, TextFile, Hunk]:
        """Return both sides of a file, and the hunk that is meant. Raises `UserError`."""
        reviewed = self.reviewed(found)
        is_there = reviewed.hunks is not None and part.hunk < len(reviewed.hunks)
        if not reviewed.is_divisible or not is_there or part.old != reviewed.old:
            raise UserError(_GONE)
        assert found.old is not None and found.new is not None  # noqa: S101, PT018 - divisible
        sides = [TextFile.decode(self._vault.read(side.content)) for side in (found.old, found.new)]
        return sides[0], sides[1], (reviewed.hunks or ())[part.hunk]

    def _hunks(self, old: Entry | None, new: Entry | None) -> tuple[Hunk, ...] | None:
        """Return what differs between two files or links, None where that cannot be shown."""
        if any(entry and (entry.why or entry.size > _LARGEST_TEXT) for entry in (old, new)):
            return None
        key = old.content if old else "", new.content if new else ""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        parts = hunks(self._text(old), self._text(new))
        found = None if parts is None else tuple(parts)
        with self._lock:
            self._known[key] = found
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found

    def _text(self, entry: Entry | None) -> str:
        if entry is None:
            return ""
        if entry.is_link:
            return entry.content
        return TextFile.decode(self._vault.read(entry.content)).text


_GONE = phrase("That change is not there any more: the file changed meanwhile. Look again.")


def _encoded(path: str, file: TextFile, text: str) -> bytes:
    try:
        return file.encode(text)
    except (NotEncodable, NotExact):
        raise UserError(
            phrase(
                "{path} cannot be written in its encoding in part; take back the whole file.",
                path=visible(path),
            )
        ) from None


def _with_text(entry: Entry, content: str, size: int) -> Entry:
    """Return *entry* with another content; it is a file of its own then."""
    return entry._replace(
        content=content, size=size, mtime_ns=time.time_ns(), inode=0, device=0, links=1
    )


def _notes(found: Difference) -> list[Text]:
    notes: list[Text] = []
    change, old, new = found.change, found.old, found.new
    if change.kind == "renamed":
        notes.append(phrase("renamed from {path}", path=visible(change.path)))
    if old is not None and new is not None and old.mode != new.mode:
        notes.append(phrase("mode {old} → {new}", old=mode_of(old), new=mode_of(new)))
    if old is not None and new is not None and old.extras != new.extras:
        notes.append(phrase("other attributes"))
    for entry in (old, new):
        if entry is not None and entry.why:
            notes.append(REASONS[entry.why])
    return notes


def _joined(notes: Sequence[Text]) -> Text:
    if len(notes) < 2:
        return notes[0] if notes else ""
    return phrase("{one}; {more}", one=notes[0], more=_joined(notes[1:]))


def counts(hunks: Sequence[Hunk] | None) -> tuple[int, int]:
    """Return how many lines came and went."""
    found = hunks or ()
    return sum(hunk.added for hunk in found), sum(hunk.removed for hunk in found)
