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
from modules.files.fingerprints import Fingerprint, look, trace
from modules.files.project import Project
from modules.note_book import Book, Note, dumped, listed, moved, parsed, renamed
from utils.i18n import Phrase, Text, UserError, phrase
from utils.system.shared_file import SharedFile, Stamp
from utils.text.clean import visible

_LONGEST = 2_000  # characters of one note


class Annotations(
    Feature, PreparesContext, ProvidesContext, ProvidesStatus, KeepsState, FollowsFiles
):
    """The notes of *project* in the JSON file *path*, which other processes may change too."""

    def __init__(self, project: Project, path: Path) -> None:
        self._project = project
        self._file = SharedFile(path)
        self._read: tuple[Stamp | None, Book] = (None, Book())
        self._seen = 0.0
        self._others: dict[str, tuple[int, int]] = {}
        self._set_aside = ""

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
        path = self._project.meant(path) or path
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
    def note_command(self, rest: str) -> Card:
        self.sync()
        if not rest:
            return self._all()
        path, text = self._split(rest)
        if text:
            return self.annotate_file(path, "" if text == "-" else text).card
        shown = self.note(path) or phrase("No note yet. /note PATH TEXT makes one.")
        return TextCard(phrase("Note on {path}", path=visible(path)), shown)

    def note(self, path: str) -> str:
        """Return the note on *path*, "" where there is none."""
        noted = self._book().notes.get(path)
        return noted.text if noted else ""

    def all_notes(self) -> dict[str, str]:
        """Return the notes by path."""
        return {path: note.text for path, note in self._book().notes.items()}

    def before_request(self) -> None:
        self.sync()

    def context(self) -> Iterable[Section]:
        return [Section("notes", listed(self._book().notes))]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        self.sync()
        book = self._book()
        said = phrase(
            "{count} on files, {lost} of files that are gone",
            count=len(book.notes),
            lost=len(book.lost),
        )
        rows: list[tuple[Phrase, Text]] = [(phrase("Notes"), said)]
        if self._set_aside:
            damaged = phrase("damaged, kept as {path}; begun anew", path=self._set_aside)
            rows.append((phrase("Old notes"), damaged))
        return rows

    def state(self) -> dict[str, Any]:
        """Return the notes by path: a session keeps how they stood, without owning them."""
        return {"notes": self.all_notes()}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: ARG002
        """Leave the notes as they are: they are the files', whichever session goes on."""

    def go_back(self, state: dict[str, Any]) -> None:
        """Give every file that is there the note it had then; nothing where that is unknown."""
        self.sync()
        then: dict[str, str] | None = state.get("notes")
        if then is None:
            return
        now = self.all_notes()
        for path in sorted(then.keys() | now.keys()):
            if then.get(path, "") != now.get(path, ""):
                with suppress(ToolError):  # its file is not there
                    self._set(path, then.get(path, ""))

    def take_back(self, before: Any, after: Any) -> list[Phrase]:
        """Give back the notes that *before* and *after* (by path) tell apart.

        A note that was changed since stays as it is.
        """
        self.sync()
        then, later, now = before or {}, after or {}, self.all_notes()
        said: list[Phrase] = []
        for path in sorted(then.keys() | later.keys()):
            text = then.get(path, "")
            if text == later.get(path, "") or now.get(path, "") != later.get(path, ""):
                continue
            with suppress(ToolError):  # its file is not there
                self._set(path, text)
                shown = text or phrase("no note")
                said.append(phrase("note on {path}: {text}", path=visible(path), text=shown))
        return said

    def follow(self, changes: Sequence[Change]) -> None:
        """Take the notes along with a rename at once; the rest shows in the files themselves."""
        renames = [change for change in changes if change.kind == "renamed"]
        if any(moved(path, c) != path for path in self._book().notes for c in renames):
            with suppress(UserError):  # then `sync` finds the files
                self._change(lambda book: replace(book, notes=renamed(book.notes, renames)))
        self.sync()

    def sync(self) -> None:
        """Let every note follow its file, also when it was renamed or deleted outside.

        Costs one stat for each note unless something happened. What cannot be kept now, because the
        disk is full, is tried again at the next call.
        """
        book = self._book()
        if self._is_disturbed(book) or any(map(self._is_back, book.lost, book.lost.values())):
            try:
                self._change(self._followed)
            except UserError:
                return
        self._seen = time.time()

    def _is_disturbed(self, book: Book) -> bool:
        for path, note in book.notes.items():
            found = look(self._project, path)
            if found is None or not note.file.is_unchanged(found):
                return True
        return False

    def _is_back(self, path: str, note: Note) -> bool:
        """Return whether the lost file is back at *path*, rather than another in its place."""
        found = look(self._project, path)
        if found is None or self._others.get(path) == (found.st_ino, found.st_mtime_ns):
            return False
        now = Fingerprint.of(self._project, path)
        if now is not None and now.is_kin(note.file):
            return True
        self._others[path] = (found.st_ino, found.st_mtime_ns)
        return False

    def _followed(self, book: Book) -> Book:
        """Return *book* with every note where its file is now, one note to a file."""
        notes, astray = self._sorted_out(book.notes)
        files = {path: note.file for path, note in astray.items()}
        since = max(self._seen, book.seen)
        for path, new_path in trace(self._project, files, taken=notes, since=since).items():
            self._place(notes, new_path, astray.pop(path))
        now = time.time()
        lost = {**book.lost, **{p: replace(n, lost_since=now) for p, n in astray.items()}}
        for path, note in list(lost.items()):
            # Another file in the place of one that is nowhere: that was written anew.
            is_there = path in astray or self._is_back(path, note)
            if path not in notes and is_there and self._place(notes, path, note):
                del lost[path]
        return replace(book, notes=notes, lost=lost)

    def _sorted_out(self, notes: dict[str, Note]) -> tuple[dict[str, Note], dict[str, Note]]:
        """Return the notes whose file is in its place, seen anew, and the others."""
        here, astray = {}, {}
        for path, note in notes.items():
            now = Fingerprint.of(self._project, path)
            if now is None or not (now.is_same_inode(note.file) or now.is_kin(note.file)):
                astray[path] = note
            else:
                here[path] = replace(note, file=now)
        return here, astray

    def _place(self, notes: dict[str, Note], path: str, note: Note) -> bool:
        now = Fingerprint.of(self._project, path)
        if now is not None:
            notes[path] = Note(note.text, now)
        return now is not None

    def _set(self, path: str, text: str) -> None:
        if len(text) > _LONGEST:
            raise ToolError(
                phrase(
                    "A note holds {limit} characters; this has {length}.",
                    limit=_LONGEST,
                    length=len(text),
                )
            )
        file = Fingerprint.of(self._project, path)
        if text and file is None:
            raise ToolError(self._no_file(path))
        if not text and path not in self._book().notes:
            raise ToolError(phrase("There is no note on {path}.", path=visible(path)))

        def noted(book: Book) -> Book:
            notes = {other: note for other, note in book.notes.items() if other != path}
            lost = {other: note for other, note in book.lost.items() if other != path}
            if text and file:
                notes[path] = Note(text, file)
            return replace(book, notes=notes, lost=lost)

        self._change(noted)

    def _no_file(self, path: str) -> Phrase:
        if (found := look(self._project, path)) and stat.S_ISDIR(found.st_mode):
            return phrase("{path} is a folder; notes are kept on files.", path=visible(path))
        return phrase("There is no file {path}.", path=visible(path))

    def _split(self, rest: str) -> tuple[str, str]:
        """Return path and text of a command line: a path may be quoted, or hold blanks if it is
        there."""
        if rest[0] in "'\"" and (end := rest.find(rest[0], 1)) > 0:
            return self._project.normal(rest[1:end]), rest[end + 1 :].strip()
        words = rest.split(" ")
        for count in range(len(words), 0, -1):
            start = " ".join(words[:count])
            with suppress(ToolError):
                path = self._project.normal(start.removeprefix("@"))
                if look(self._project, path) is not None:
                    return path, rest[len(start) :].strip()
        return self._project.normal(words[0]), rest[len(words[0]) :].strip()

    def _all(self) -> Card:
        notes = self._book().notes
        if not notes:
            return TextCard(phrase("Notes"), phrase("No note yet. /note PATH TEXT makes one."))
        return TableCard(phrase("Notes"), tuple((visible(p), notes[p].text) for p in sorted(notes)))

    def _book(self) -> Book:
        stamp = self._file.stamp()
        if stamp != self._read[0]:
            with suppress(UserError):  # a file that cannot be read now; a change will say so
                self._read = (stamp, self._loaded())
        return self._read[1]

    def _loaded(self) -> Book:
        try:
            return parsed(self._file.read())
        except ValueError:
            self._set_aside = str(self._file.set_aside())
            return Book()

    def _change(self, edit: Callable[[Book], Book]) -> None:
        self._book()  # sets a damaged file aside
        self._file.change(lambda data: dumped(edit(parsed(data))))
