"""Notes on files: one for each, kept outside the project, staying with the file."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from core.cards import Card, Change, TableCard, TextCard
from core.feature import Feature, Section, command
from core.hooks import FollowsFiles, KeepsState, PreparesContext, ProvidesContext, ProvidesStatus
from core.tools import Outcome, Risk, ToolError, tool
from modules.files.fingerprints import Fingerprint, find_moved, stat_or_none
from modules.files.project import Project
from modules.note_book import (
    Note,
    NoteBook,
    dump_note_book,
    notes_after_renames,
    notes_for_model,
    parse_note_book,
    path_after_rename,
)
from utils.i18n import Phrase, Text, UserError, phrase
from utils.system.shared_file import SharedFile, Stamp
from utils.text.clean import visible

_MAX_CHARACTERS = 2_000  # characters of one note


class Annotations(
    Feature, PreparesContext, ProvidesContext, ProvidesStatus, KeepsState, FollowsFiles
):
    """The notes of *project* in the JSON file *path*, which other processes may change too."""

    def __init__(self, project: Project, path: Path) -> None:
        self._project = project
        self._file = SharedFile(path)
        self._cached: tuple[Stamp | None, NoteBook] = (None, NoteBook())
        self._synced_at = 0.0
        self._unrelated_files: dict[str, tuple[int, int]] = {}
        self._damaged_copy = ""

    @tool(
        Risk.WRITE,
        phrase("Keep a note on a file."),
        verb=phrase("Note"),
        icon="note",
        subject="{path}",
        opens="path",
        state="notes",
    )
    def annotate_file(self, path: str, note: Annotated[str, "Empty removes the note."]) -> Outcome:
        """Set the one note kept on a file: what it is for, what to mind. It follows renames."""
        path = self._project.resolve(path) or path
        text = note.strip()
        self._set(path, text)
        if not text:
            return Outcome(
                "The note is removed.", TextCard(phrase("Note removed: {path}", path=visible(path)))
            )
        return Outcome("Noted.", TextCard(phrase("Note on {path}", path=visible(path)), text))

    @command(
        "/note [PATH] [TEXT]",
        "Note TEXT on a file; without TEXT show its note, without PATH all; - removes it.",
        is_concurrent=True,
    )
    def note_command(self, argument: str) -> Card:
        self.sync()
        if not argument:
            return self._all_notes_card()
        path, text = self._split_path_and_text(argument)
        if text:
            return self.annotate_file(path, "" if text == "-" else text).card
        shown = self.note(path) or phrase("No note yet. /note PATH TEXT makes one.")
        return TextCard(phrase("Note on {path}", path=visible(path)), shown)

    def note(self, path: str) -> str:
        """Return the note on *path*, "" where there is none."""
        note = self._current_book().notes.get(path)
        return note.text if note else ""

    def all_notes(self) -> dict[str, str]:
        """Return the notes by path."""
        return {path: note.text for path, note in self._current_book().notes.items()}

    def before_request(self) -> None:
        self.sync()

    def context(self) -> Iterable[Section]:
        return [Section("notes", notes_for_model(self._current_book().notes))]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        self.sync()
        book = self._current_book()
        counts = phrase(
            "{count} on files, {lost} of files that are gone",
            count=len(book.notes),
            lost=len(book.lost),
        )
        rows: list[tuple[Phrase, Text]] = [(phrase("Notes"), counts)]
        if self._damaged_copy:
            damaged = phrase("damaged, kept as {path}; begun anew", path=self._damaged_copy)
            rows.append((phrase("Old notes"), damaged))
        return rows

    def state(self) -> dict[str, Any]:
        """Return the notes by path: a session keeps how they stood, without owning them."""
        return {"notes": self.all_notes()}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: ARG002
        """Leave the notes as they are: they are the files', whichever session goes on."""

    def on_rewind(self, state: dict[str, Any]) -> None:
        """Give every file that is there the note it had then; nothing where that is unknown."""
        self.sync()
        wanted: dict[str, str] | None = state.get("notes")
        if wanted is None:
            return
        now = self.all_notes()
        for path in sorted(wanted.keys() | now.keys()):
            if wanted.get(path, "") != now.get(path, ""):
                with suppress(ToolError):  # its file is not there
                    self._set(path, wanted.get(path, ""))

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
        if self._has_lost_track(book) or any(map(self._is_back, book.lost, book.lost.values())):
            try:
                self._update_file(self._with_files_followed)
            except UserError:
                return
        self._synced_at = time.time()

    def _has_lost_track(self, book: NoteBook) -> bool:
        for path, note in book.notes.items():
            status = stat_or_none(self._project, path)
            if status is None or not note.file.is_unchanged(status):
                return True
        return False

    def _is_back(self, path: str, note: Note) -> bool:
        """Return whether the lost file is back at *path*, rather than another in its place."""
        status = stat_or_none(self._project, path)
        if status is None or self._unrelated_files.get(path) == (status.st_ino, status.st_mtime_ns):
            return False
        now = Fingerprint.of(self._project, path)
        if now is not None and now.is_similar(note.file):
            return True
        self._unrelated_files[path] = (status.st_ino, status.st_mtime_ns)
        return False

    def _with_files_followed(self, book: NoteBook) -> NoteBook:
        """Return *book* with every note where its file is now, one note to a file."""
        notes, missing = self._split_by_presence(book.notes)
        files = {path: note.file for path, note in missing.items()}
        since = max(self._synced_at, book.seen)
        for path, new_path in find_moved(self._project, files, taken=notes, since=since).items():
            self._put_note(notes, new_path, missing.pop(path))
        now = time.time()
        lost = {**book.lost, **{p: replace(n, lost_since=now) for p, n in missing.items()}}
        for path, note in list(lost.items()):
            # Another file in the place of one that is nowhere: that was written anew.
            is_there = path in missing or self._is_back(path, note)
            if path not in notes and is_there and self._put_note(notes, path, note):
                del lost[path]
        return replace(book, notes=notes, lost=lost)

    def _split_by_presence(self, notes: dict[str, Note]) -> tuple[dict[str, Note], dict[str, Note]]:
        """Return the notes whose file is in its place, seen anew, and the others."""
        present, missing = {}, {}
        for path, note in notes.items():
            now = Fingerprint.of(self._project, path)
            if now is None or not (now.is_same_inode(note.file) or now.is_similar(note.file)):
                missing[path] = note
            else:
                present[path] = replace(note, file=now)
        return present, missing

    def _put_note(self, notes: dict[str, Note], path: str, note: Note) -> bool:
        now = Fingerprint.of(self._project, path)
        if now is not None:
            notes[path] = Note(note.text, now)
        return now is not None

    def _set(self, path: str, text: str) -> None:
        if len(text) > _MAX_CHARACTERS:
            raise ToolError(
                phrase(
                    "A note holds {limit} characters; this has {length}.",
                    limit=_MAX_CHARACTERS,
                    length=len(text),
                )
            )
        file = Fingerprint.of(self._project, path)
        if text and file is None:
            raise ToolError(self._no_file_message(path))
        if not text and path not in self._current_book().notes:
            raise ToolError(phrase("There is no note on {path}.", path=visible(path)))

        def with_note(book: NoteBook) -> NoteBook:
            notes = {other: note for other, note in book.notes.items() if other != path}
            lost = {other: note for other, note in book.lost.items() if other != path}
            if text and file:
                notes[path] = Note(text, file)
            return replace(book, notes=notes, lost=lost)

        self._update_file(with_note)

    def _no_file_message(self, path: str) -> Phrase:
        if (status := stat_or_none(self._project, path)) and stat.S_ISDIR(status.st_mode):
            return phrase("{path} is a folder; notes are kept on files.", path=visible(path))
        return phrase("There is no file {path}.", path=visible(path))

    def _split_path_and_text(self, argument: str) -> tuple[str, str]:
        """Return path and text of a command line: a path may be quoted, or hold blanks if it is
        there."""
        if argument[0] in "'\"" and (end := argument.find(argument[0], 1)) > 0:
            return self._project.normalize(argument[1:end]), argument[end + 1 :].strip()
        words = argument.split(" ")
        for count in range(len(words), 0, -1):
            start = " ".join(words[:count])
            with suppress(ToolError):
                path = self._project.normalize(start.removeprefix("@"))
                if stat_or_none(self._project, path) is not None:
                    return path, argument[len(start) :].strip()
        return self._project.normalize(words[0]), argument[len(words[0]) :].strip()

    def _all_notes_card(self) -> Card:
        notes = self._current_book().notes
        if not notes:
            return TextCard(phrase("Notes"), phrase("No note yet. /note PATH TEXT makes one."))
        return TableCard(phrase("Notes"), tuple((visible(p), notes[p].text) for p in sorted(notes)))

    def _current_book(self) -> NoteBook:
        stamp = self._file.stamp()
        if stamp != self._cached[0]:
            with suppress(UserError):  # a file that cannot be read now; a change will say so
                self._cached = (stamp, self._load())
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
