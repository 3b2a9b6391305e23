"""Notes on files and on lines of them, kept outside the project, staying with what they are on."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from core.cards import Card, Change, TextCard
from core.feature import Feature, Section, command
from core.hooks import (
    FollowsFiles,
    KeepsState,
    PreparesContext,
    ProvidesContext,
    ProvidesStatus,
    ProvidesWarnings,
)
from core.tools import Outcome, Risk, ToolError, tool
from modules.files.fingerprints import Fingerprint, stat_or_none
from modules.files.project import Project
from modules.notes.line_notes import MAX_LINES, LineNote, anchored, is_protecting, located, rewound
from modules.notes.note_book import (
    LINE_NOTES,
    BrokenProtection,
    Note,
    NoteBook,
    broken_protections,
    dump_note_book,
    line_notes_state,
    notes_after_renames,
    notes_change_for_model,
    notes_for_model,
    parse_note_book,
    path_after_rename,
)
from modules.notes.note_cards import line_notes_card, notes_card
from modules.notes.note_target import NoteTarget
from modules.notes.note_tracker import NoteTracker
from utils.i18n import Phrase, Text, UserError, phrase
from utils.system.shared_file import SharedFile, Stamp
from utils.text.clean import visible
from utils.text.lines import lines_of

_MAX_CHARACTERS = 2_000  # characters of one note
_NO_FILE = Fingerprint(0, 0, 0, 0)


class Annotations(
    Feature,
    PreparesContext,
    ProvidesContext,
    ProvidesStatus,
    ProvidesWarnings,
    KeepsState,
    FollowsFiles,
):
    """The notes of *project* in the JSON file *path*, which other processes may change too."""

    def __init__(self, project: Project, path: Path) -> None:
        self._project = project
        self._file = SharedFile(path)
        self._cached: tuple[Stamp | None, NoteBook] = (None, NoteBook())
        self._synced_at = 0.0
        self._tracker = NoteTracker(project)
        self._damaged_copy = ""
        self._has_line_notes = False
        self._broken: frozenset[BrokenProtection] | None = None  # those the person knows of
        self.broken_at_start: frozenset[BrokenProtection] = frozenset()
        self.on_protect: Callable[[], None] = lambda: None
        """Is called after a note that protects was made, to hold what the files are then."""

    @tool(
        Risk.WRITE,
        phrase("Attach a note to a file."),
        verb=phrase("Note"),
        icon="note",
        subject="{path}",
        opens="path",
        state="notes",
    )
    def annotate_file(self, path: str, note: Annotated[str, "Empty removes the note."]) -> Outcome:
        """Set the one note on a file: what it is for, what to mind."""
        path = self._project.resolve(path) or path
        text = note.strip()
        if is_protecting(self.note(path)) and text != self.note(path):
            raise ToolError(
                phrase(
                    "The note on {path} protects it: only the person changes that.",
                    path=visible(path),
                )
            )
        return self.write_note(path, text)

    def write_note(self, path: str, text: str) -> Outcome:
        """Set the note on the file *path*, for a person; "" removes it. Raises `ToolError`."""
        self._set(path, text)
        if not text:
            return Outcome(
                "The note is removed.", TextCard(phrase("Note removed: {path}", path=visible(path)))
            )
        return Outcome("Noted.", TextCard(phrase("Note on {path}", path=visible(path)), text))

    @command(
        "/note [PATH[:3-5]] [TEXT]",
        "Add a note to a file or its lines; without TEXT show its notes, without PATH all "
        "notes; - removes it. A note that starts with “do not touch” protects them.",
        is_concurrent=True,
    )
    def note_command(self, argument: str) -> Card:
        self.sync()
        if not argument:
            return notes_card(self._current_book().notes)
        target = NoteTarget.parse(self._project, argument)
        path, text = target.path, target.text
        if target.start:
            if text:
                self.set_line_note(path, target.start, target.end, "" if text == "-" else text)
            return line_notes_card(path, target.start, target.end, self._current_book().notes)
        if text:
            return self.write_note(path, "" if text == "-" else text).card
        note = self._current_book().notes.get(path)
        if note and note.lines:
            return notes_card({path: note})
        shown = self.note(path) or phrase("No notes yet. Add one with /note PATH TEXT.")
        return TextCard(phrase("Note on {path}", path=visible(path)), shown)

    def note(self, path: str) -> str:
        """Return the note on *path*, "" where there is none."""
        note = self._current_book().notes.get(path)
        return note.text if note else ""

    def all_notes(self) -> dict[str, str]:
        """Return the notes by path."""
        return _texts(self._current_book().notes)

    def listed_notes(self) -> dict[str, tuple[str, str]]:
        """Return by path the note on the file and those on its lines, each with its place."""
        return {
            path: (n.text, "; ".join(f"{one.place}: {one.text}" for one in n.lines))
            for path, n in self._current_book().notes.items()
        }

    def told_notes(self, path: str) -> Text:
        """Return all that is noted on the file *path* and on its lines, "" for nothing."""
        note = self._current_book().notes.get(path)
        return note.told() if note else ""

    def line_notes(self, path: str) -> tuple[LineNote, ...]:
        """Return the notes on lines of *path* as they are now, from top to bottom."""
        self.sync()
        note = self._current_book().notes.get(path)
        return note.lines if note else ()

    def protecting(self) -> dict[str, Note]:
        """Return the notes on files where something is protected, by path."""
        return {path: n for path, n in self._current_book().notes.items() if n.is_protecting}

    def broken(self) -> Sequence[BrokenProtection]:
        """Return what says not to touch and is touched, as all is now."""
        self.sync()
        return broken_protections(self._current_book())

    def protected_digest(self, path: str) -> str:
        """Return of what content (SHA-256) the note on all of *path* is, "" for no such note."""
        book = self._current_book()
        note = book.notes.get(path) or book.lost.get(path)
        if note is None or not is_protecting(note.text):
            return ""
        return note.protected_digest or note.file.digest

    def accept(self, path: str) -> None:
        """Have the note on all of *path* protect it as it is now. Raises `ToolError`."""
        if path in self._current_book().notes:
            self._put(path, lambda note: replace(note, protected_digest=""))

    def set_line_note(self, path: str, start: int, end: int, text: str) -> None:
        """Set the note on the lines *start* to *end* of *path*; "" removes it.

        Raises `ToolError`.
        """
        _refuse_long(text)
        lines = lines_of(self._project.read_text(path).text)
        if end > len(lines):
            raise ToolError(_beyond_end(path, len(lines)))
        if end - start >= MAX_LINES:
            raise ToolError(phrase("A note can be on {most} lines at most.", most=MAX_LINES))
        if not text and not any((n.start, n.end) == (start, end) for n in self.line_notes(path)):
            raise ToolError(
                phrase("There is no note on these lines of {path}.", path=visible(path))
            )

        def with_note(note: Note) -> Note:
            kept = [one for one in note.lines if (one.start, one.end) != (start, end)]
            added = [anchored(start, end, text, lines)] if text else []
            return replace(note, lines=located([*kept, *added], lines))

        self._put(path, with_note)
        if is_protecting(text):
            self.on_protect()

    def before_request(self) -> None:
        self.sync()

    def context(self) -> Iterable[Section]:
        text = notes_for_model(self._current_book().notes)
        return [Section("notes", text, lambda told: notes_change_for_model(told, text))]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        self.sync()
        book = self._current_book()
        counts = phrase(
            "{count:,} on files, {lost:,} on deleted files",
            count=sum(bool(note.text) + len(note.lines) for note in book.notes.values()),
            lost=len(book.lost),
        )
        rows: list[tuple[Phrase, Text]] = [(phrase("Notes"), counts)]
        if self._damaged_copy:
            damaged = phrase("damaged; saved as {path} and started over", path=self._damaged_copy)
            rows.append((phrase("Old notes"), damaged))
        return rows

    def state(self) -> dict[str, Any]:
        """Return the notes by path: a session keeps how they stood, without owning them."""
        notes = self._current_book().notes
        lines = line_notes_state(notes)
        self._has_line_notes |= bool(lines)
        return {"notes": _texts(notes)} | ({LINE_NOTES: lines} if self._has_line_notes else {})

    def restore(self, state: dict[str, Any]) -> None:
        """Leave the notes as they are: they are the files', whichever session goes on."""
        self._has_line_notes = LINE_NOTES in state

    def on_rewind(self, state: dict[str, Any]) -> None:
        """Give every file that is there the notes it had then; nothing where that is unknown."""
        self.sync()
        wanted: dict[str, str] | None = state.get("notes")
        if wanted is None:
            return
        now = self.all_notes()
        for path in sorted(wanted.keys() | now.keys()):
            if wanted.get(path, "") != now.get(path, ""):
                with suppress(ToolError):  # its file is not there
                    self._set(path, wanted.get(path, ""))
        self._rewind_lines(state.get(LINE_NOTES, {}))

    def _rewind_lines(self, wanted: dict[str, list[list[Any]]]) -> None:
        """Give the lines of every file that is there the notes *wanted* by `line_notes_state`."""
        for path in sorted(wanted.keys() | line_notes_state(self._current_book().notes).keys()):
            with suppress(ToolError):  # its file is not there, or no text
                lines = lines_of(self._project.read_text(path).text)
                notes = rewound(self.line_notes(path), wanted.get(path, []), lines)
                self._put(path, partial(replace, lines=notes))

    def warnings(self) -> list[Phrase]:
        """Return what is no longer as a note wants it, which the person was not told yet."""
        known = self._broken or frozenset()
        broken = broken_protections(self._current_book())
        if not known.issuperset(broken):  # what was put back since is not told
            broken = list(self.broken())
        self._broken = frozenset(broken)
        return [one.phrase for one in broken if one not in known]

    def undo_change(self, before: Any, after: Any) -> list[Phrase]:
        """Give back the notes that *before* and *after* (by path) tell apart.

        A note that was changed since stays as it is.
        """
        self.sync()
        old_notes, new_notes, now = before or {}, after or {}, self.all_notes()
        undone: list[Phrase] = []
        for path in sorted(old_notes.keys() | new_notes.keys()):
            text = old_notes.get(path, "")
            if text == new_notes.get(path, "") or now.get(path, "") != new_notes.get(path, ""):
                continue
            with suppress(ToolError):  # its file is not there
                self._set(path, text)
                shown = text or phrase("no note")
                undone.append(phrase("note on {path}: {text}", path=visible(path), text=shown))
        return undone

    def on_files_changed(self, changes: Sequence[Change]) -> None:
        """Take the notes along with a rename at once; the rest shows in the files themselves."""
        renames = [change for change in changes if change.kind == "renamed"]
        if any(
            path_after_rename(path, c) != path
            for path in self._current_book().notes
            for c in renames
        ):
            with suppress(UserError):  # then `sync` finds the files
                self._update_file(
                    lambda book: replace(book, notes=notes_after_renames(book.notes, renames))
                )
        self.sync()

    def sync(self) -> None:
        """Let every note follow its file, also when it was renamed or deleted outside.

        Costs one stat for each note unless something happened. What cannot be kept now, because the
        disk is full, is tried again at the next call.
        """
        book = self._current_book()
        if self._tracker.has_lost_track(book):
            try:
                self._update_file(lambda book: self._tracker.followed(book, self._synced_at))
            except UserError:
                return
        self._synced_at = time.time()

    def _set(self, path: str, text: str) -> None:
        _refuse_long(text)
        if not text and not self.note(path):
            raise ToolError(phrase("There is no note on {path}.", path=visible(path)))
        self._put(path, lambda note: replace(note, text=text, protected_digest=""))
        if is_protecting(text):
            self.on_protect()

    def _put(self, path: str, edit: Callable[[Note], Note]) -> None:
        """Give the file *path* what *edit* makes of its notes. Raises `ToolError` without one."""
        file = Fingerprint.of(self._project, path)
        if file is None and path not in self._current_book().notes:
            raise ToolError(self._no_file_message(path))

        def with_note(book: NoteBook) -> NoteBook:
            notes = {other: note for other, note in book.notes.items() if other != path}
            lost = {other: note for other, note in book.lost.items() if other != path}
            note = edit(book.notes.get(path, Note("", file or _NO_FILE)))
            if not note.is_empty and file:
                notes[path] = replace(note, file=file)
            return replace(book, notes=notes, lost=lost)

        self._update_file(with_note)

    def _no_file_message(self, path: str) -> Phrase:
        if (status := stat_or_none(self._project, path)) and stat.S_ISDIR(status.st_mode):
            return phrase("{path} is a folder. Only files can have notes.", path=visible(path))
        return phrase("There is no file {path}.", path=visible(path))

    def _current_book(self) -> NoteBook:
        stamp = self._file.stamp()
        if stamp != self._cached[0]:
            with suppress(UserError):  # a file that cannot be read now; a change will say so
                self._cached = (stamp, self._load())
                if self._broken is None:
                    self._broken = frozenset(broken_protections(self._cached[1]))
                    self.broken_at_start = self._broken
        return self._cached[1]

    def _load(self) -> NoteBook:
        try:
            return parse_note_book(self._file.read())
        except ValueError:
            self._damaged_copy = str(self._file.set_aside())
            return NoteBook()

    def _update_file(self, edit: Callable[[NoteBook], NoteBook]) -> None:
        self._current_book()  # sets a damaged file aside
        self._file.change(lambda data: dump_note_book(edit(parse_note_book(data))))


def _beyond_end(path: str, last: int) -> Phrase:
    if not last:
        return phrase("{path} is empty: there is no line to note.", path=visible(path))
    return phrase(
        "The last line of {path} is {last}; the note would go beyond it.",
        path=visible(path),
        last=last,
    )


def _texts(notes: Mapping[str, Note]) -> dict[str, str]:
    return {path: note.text for path, note in notes.items() if note.text}


def _refuse_long(text: str) -> None:
    if len(text) > _MAX_CHARACTERS:
        raise ToolError(
            phrase(
                "A note holds {limit} characters; this has {length}.",
                limit=_MAX_CHARACTERS,
                length=len(text),
            )
        )
