"""Reading and writing files for a person at the page, who may race with the agent and others."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from typing import Any

from core.cards import Change
from core.tools import ToolError
from modules.annotations import Annotations
from modules.files.editing.text_file import NotEncodable, NotExact, NotText, TextFile
from modules.files.project import Changed, Missing, Project
from modules.web.files import file_names
from modules.web.files.file_parts import read_part
from modules.web.files.stat_cache import StatCache, stamp_of
from modules.web.http.errors import ApiError, explained
from modules.web.sessions.page_redaction import PageRedactor
from utils.i18n import phrase
from utils.text.clean import visible

LONGEST = 4 * 4_096
"""Characters of a path: it may be shown with four for each of the bytes that a system takes."""
LARGEST_TEXT = 5_000_000
LARGEST_FILE = 64_000_000
"""Bytes of a file that is shown, sent or received."""

Told = Callable[[Sequence[Change]], object]


class FileContents:
    """The files of *project*; *told* hears what a person changed. All raise `ApiError`; may block.

    Nothing that somebody else wrote meanwhile is ever replaced unseen. What leaves here is as
    *veil* lets it be seen; hashes and sizes are those of the bytes on the disk.
    """

    def __init__(
        self,
        project: Project,
        notes: Annotations,
        told: Told,
        veil: PageRedactor,
        stamps: StatCache,
    ) -> None:
        """*stamps* takes note of the state in which a text was read."""
        self._stamps = stamps
        self._project = project
        self._notes = notes
        self._told = told
        self._veil = veil

    def text(self, path: str) -> dict[str, Any]:
        """Return the text file *path*, and the hash of its bytes to write it back with."""
        with explained():
            path = self._project.normal(path)
            self._stamps.tell(visible(path), stamp_of(self._project.stat(path)))
            data = self._bytes(path, LARGEST_TEXT)
            file = _text(path, data)
            self._veil.look()
            return {
                "path": visible(path),
                "text": self._veil.hidden(file.text),
                "hash": digest(data),
                "encoding": file.name,
                "newline": file.newline,
                "size": len(data),
                "is_writable": self._is_writable(path),
                "note": self._veil.hidden(self._notes.note(path)),
                "language": file_names.language(path),
            }

    def part(self, path: str, number: int) -> dict[str, Any]:
        """Return the part *number*, or the last one, of the text file *path*, however large."""
        with explained():
            path = self._project.normal(path)
            self._stamps.tell(visible(path), stamp_of(self._project.stat(path)))
            with self._project.stream(path) as stream:
                try:
                    part = read_part(stream, number)
                except NotText as error:
                    raise _no_text(path, error, os.fstat(stream.fileno()).st_size) from None
        self._veil.look()
        return {
            "path": visible(path),
            "number": part.number,
            "count": part.count,
            "text": self._veil.hidden_between(part.before, part.text, part.after),
            "first_line": part.first_line,
            "size": part.size,
            "encoding": part.form.name,
            "newline": part.form.newline,
            "language": file_names.language(path),
        }

    def write_text(self, path: str, text: str, base: str | None) -> dict[str, Any]:
        """Write *text* to the file whose bytes have the hash *base*; None: that must not exist.

        Encoding, byte order mark and line ends of the file stay, and so does what was hidden in it.
        The answer has the text as it may be seen, where that is another than was sent.
        """
        self._veil.look()
        with explained():
            path = self._project.normal(path)
            before = None if base is None else self._based(path, base)
            try:
                whole = self._veil.restored(text, _text(path, before).text if before else "")
                data = _encoded(path, before, whole)
                self._project.write_bytes(path, data, make_folders=before is None, expect=before)
            except Changed:
                raise self._changed(path) from None
        self._tell("created" if before is None else "modified", path)
        self._veil.look()
        seen = self._veil.hidden(whole)
        more = {} if seen == text else {"text": seen}
        return {"path": visible(path), "hash": digest(data), "size": len(data), **more}

    def upload(self, folder: str, name: str, data: bytes, *, replace: bool) -> dict[str, Any]:
        """Keep *data* as a file in *folder*; the name is made harmless first."""
        name = file_names.harmless(name)
        if not name:
            raise ApiError("failed", phrase("That name cannot be used for a file."))
        with explained():
            folder = self._project.normal(folder)
            path = f"{folder}/{name}" if folder else name
            is_new = self._project.stat(path) is None
            try:
                self._project.write_bytes(
                    path, data, make_folders=True, expect=... if replace else None
                )
            except Changed:
                there = phrase("{path} exists already; nothing was replaced.", path=visible(path))
                raise ApiError("exists", there, path=visible(path)) from None
        self._tell("created" if is_new else "modified", path)
        return {"path": visible(path), "hash": digest(data)}

    def content(self, path: str, most: int = LARGEST_FILE) -> tuple[str, bytes]:
        """Return the usual form of *path* and its bytes, at most *most*, as they may leave."""
        self._veil.look()
        with explained():
            path = self._project.normal(path)
            return path, self._veil.hidden_bytes(self._bytes(path, most))

    def make_folder(self, path: str) -> dict[str, Any]:
        with explained():
            path = self._project.normal(path)
            self._project.make_folder(path)
        self._tell("created", path)
        return {"path": visible(path)}

    def rename(self, path: str, new_path: str) -> dict[str, Any]:
        """Move a file or folder; nothing is ever replaced."""
        with explained():
            path, new_path = self._project.normal(path), self._project.normal(new_path)
            self._project.rename(path, new_path)
        change = Change("renamed", path, new_path)
        self._notes.follow([change])
        self._told([change])
        return {"path": visible(new_path)}

    def note(self, path: str, note: str) -> dict[str, Any]:
        """Set the note on a file; an empty one removes it."""
        with explained():
            path = self._project.normal(path)
            if note.strip() or self._notes.note(path):
                self._notes.annotate_file(path, note)
        self._veil.look()
        return {"path": visible(path), "note": self._veil.hidden(self._notes.note(path))}

    def _bytes(self, path: str, limit: int) -> bytes:
        found = self._project.stat(path)
        if found is not None and stat.S_ISREG(found.st_mode) and found.st_size > limit:
            shown = f"{limit // 1_000_000} MB"
            what = phrase("{path} is larger than {limit}.", path=visible(path), limit=shown)
            raise ApiError("too_large", what, size=found.st_size)
        return self._project.read_bytes(path, limit)

    def _is_writable(self, path: str) -> bool:
        found = self._project.stat(path)
        is_plain = found is not None and stat.S_ISREG(found.st_mode) and found.st_mode & 0o222
        return bool(is_plain) and not self._project.is_protected(path)

    def _based(self, path: str, base: str) -> bytes:
        """Return the bytes of the file if they are those with the hash *base*."""
        try:
            data = self._project.read_bytes(path)
        except Missing:
            raise self._changed(path) from None
        if digest(data) != base:
            raise self._changed(path)
        return data

    def _changed(self, path: str) -> ApiError:
        """Return the refusal that carries what the file holds by now; None if it is gone."""
        what = phrase("{path} was changed by somebody else meanwhile.", path=visible(path))
        try:
            data = self._project.read_bytes(path)
            text: str | None = self._veil.hidden(TextFile.decode(data).text)
        except Missing:
            return ApiError("changed", what, text=None, hash=None)
        except NotText:
            text = None
        return ApiError("changed", what, text=text, hash=digest(data))

    def _tell(self, kind: Any, path: str) -> None:
        self._told([Change(kind, path)])


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _text(path: str, data: bytes) -> TextFile:
    try:
        return TextFile.decode(data)
    except NotText as error:
        raise _no_text(path, error, len(data), hash=digest(data)) from None


def _no_text(path: str, error: NotText, size: int, **more: Any) -> ApiError:
    what = phrase("{path} is not text but {kind}.", path=visible(path), kind=error.kind)
    shown = file_names.preview(path)
    return ApiError("binary", what, kind=error.kind, size=size, preview=shown, **more)


def _encoded(path: str, before: bytes | None, text: str) -> bytes:
    try:
        if before is None:
            return TextFile.new(text).encode()
        return _text(path, before).encode(text)
    except NotEncodable as error:
        raise ToolError(
            phrase(
                "{path} is kept in {encoding}, which has no {char}.",
                path=visible(path),
                encoding=error.encoding,
                char=repr(error.char),
            )
        ) from None
    except NotExact:
        raise ToolError(
            phrase(
                "{path} holds bytes that could not be written back as they are.",
                path=visible(path),
            )
        ) from None
