"""Following the files that notes are on, and the lines in them, whoever changed them."""

from __future__ import annotations

import time
from dataclasses import replace

from core.tools import ToolError
from modules.files.fingerprints import Fingerprint, find_moved, stat_or_none
from modules.files.project import Project
from modules.notes.line_notes import is_protecting, located
from modules.notes.note_book import Note, NoteBook
from utils.text.lines import lines_of


class NoteTracker:
    """Finds the files of notes again in *project*, also when renamed or deleted outside."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._unrelated_files: dict[str, tuple[int, int]] = {}

    def has_lost_track(self, book: NoteBook) -> bool:
        """Return whether a file is not as it was, or a lost one is back; one stat for each."""
        for path, note in book.notes.items():
            status = stat_or_none(self._project, path)
            if status is None or not note.file.is_unchanged(status):
                return True
        return any(map(self._is_back, book.lost, book.lost.values()))

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

    def followed(self, book: NoteBook, since: float) -> NoteBook:
        """Return *book* with every note where its file is now, and on its lines there.

        *since* is when somebody looked last (seconds since the epoch).
        """
        notes, missing = self._split_by_presence(book.notes)
        files = {path: note.file for path, note in missing.items()}
        since = max(since, book.seen)
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
                present[path] = self._seen(path, note, now)
        return present, missing

    def _put_note(self, notes: dict[str, Note], path: str, note: Note) -> bool:
        now = Fingerprint.of(self._project, path)
        if now is not None:
            notes[path] = replace(self._seen(path, note, now), lost_since=0.0)
        return now is not None

    def _seen(self, path: str, note: Note, now: Fingerprint) -> Note:
        """Return *note* on the file *path* as it is *now*, with its lines found again."""
        if is_protecting(note.text) and now.digest != note.file.digest:
            protected = note.protected_digest or note.file.digest
            note = replace(note, protected_digest="" if protected == now.digest else protected)
        if not note.lines or now.digest == note.file.digest:
            return replace(note, file=now)
        try:
            lines = lines_of(self._project.read_text(path).text)
        except ToolError:  # no text any more, or too large
            lines = []
        return replace(note, file=now, lines=located(note.lines, lines))
