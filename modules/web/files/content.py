"""Reading and writing files for a person at the page, who may race with the agent and others."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from core.cards import Change
from core.tools import ToolError
from modules.annotations import Annotations
from modules.files.editing.text_file import NotEncodable, NotRoundTrip, NotText, TextFile
from modules.files.project import ContentChanged, MissingPath, Project
from modules.web.files import file_names
from modules.web.files.file_parts import read_part
from modules.web.files.stat_cache import Stamp, StatCache, is_settled, stamp_of
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.sessions.page_redaction import PageRedactor
from utils.i18n import phrase
from utils.text.clean import visible

MAX_PATH_LENGTH = 4 * 4_096
"""Characters of a path: it may be shown with four for each of the bytes that a system takes."""
MAX_TEXT_BYTES = 5_000_000
MAX_FILE_BYTES = 64_000_000
"""Bytes of a file that is shown, sent or received."""

OnChange = Callable[[Sequence[Change]], object]
OnWrite = Callable[[str, bytes | None, bytes], object]
"""Gets the path of a file, what it held (None for nothing) and what the person made of it."""


class FileContents:
    """The files of *project*; *on_change* gets a person's changes. All raise `ApiError`; may block.

    Nothing that somebody else wrote meanwhile is ever replaced unseen. What leaves here is as
    *redactor* shows it; hashes and sizes are those of the bytes on the disk.
    """

    def __init__(
        self,
        project: Project,
        notes: Annotations,
        on_change: OnChange,
        redactor: PageRedactor,
        stat_cache: StatCache,
        on_write: OnWrite = lambda *_: None,
    ) -> None:
        """*stat_cache* has the state in which a text was read, *on_write* gets what is written."""
        self._on_write = on_write
        self._stat_cache = stat_cache
        self._project = project
        self._notes = notes
        self._on_change = on_change
        self._redactor = redactor
        self._last_tag: tuple[tuple[str, Stamp] | None, str] = (None, "")

    def text(self, path: str) -> dict[str, Any]:
        """Return the text file *path*, and the hash of its bytes to write it back with."""
        with as_api_errors():
            path = self._project.normalize(path)
            self._stat_cache.record(visible(path), stamp_of(self._project.stat(path)))
            data = self._read_bytes(path, MAX_TEXT_BYTES)
            file = _decode(path, data)
            self._redactor.refresh()
            return {
                "path": visible(path),
                "text": self._redactor.redact(file.text),
                "hash": digest(data),
                "encoding": file.format_name,
                "newline": file.newline,
                "size": len(data),
                "is_writable": self._is_writable(path),
                **self._notes_on(path),
                "language": file_names.language(path),
            }

    def part(self, path: str, number: int) -> dict[str, Any]:
        """Return the part *number*, or the last one, of the text file *path*, however large."""
        with as_api_errors():
            path = self._project.normalize(path)
            self._stat_cache.record(visible(path), stamp_of(self._project.stat(path)))
            with self._project.open_stream(path) as stream:
                try:
                    part = read_part(stream, number)
                except NotText as error:
                    raise _not_text_error(path, error, os.fstat(stream.fileno()).st_size) from None
        self._redactor.refresh()
        return {
            "path": visible(path),
            "number": part.number,
            "count": part.count,
            "text": self._redactor.redact_between(part.before, part.text, part.after),
            "first_line": part.first_line,
            "size": part.size,
            "encoding": part.sample_file.format_name,
            "newline": part.sample_file.newline,
            "language": file_names.language(path),
        }

    def write_text(self, path: str, text: str, base: str | None) -> dict[str, Any]:
        """Write *text* to the file whose bytes have the hash *base*; None: that must not exist.

        Encoding, byte order mark and line ends of the file stay, and so does what was hidden in it.
        The answer has the text as it may be seen, where that is another than was sent.
        """
        self._redactor.refresh()
        with as_api_errors():
            path = self._project.normalize(path)
            before = None if base is None else self._read_if_unchanged(path, base)
            try:
                restored = self._redactor.restore(
                    text, _decode(path, before).text if before else ""
                )
                data = _encode(path, before, restored)
                self._project.write_bytes(path, data, make_folders=before is None, expected=before)
            except ContentChanged:
                raise self._conflict(path) from None
        self._on_write(path, before, data)
        self._notify("created" if before is None else "modified", path)
        self._redactor.refresh()
        redacted = self._redactor.redact(restored)
        changed_text = {} if redacted == text else {"text": redacted}
        return {"path": visible(path), "hash": digest(data), "size": len(data), **changed_text}

    def upload(self, folder: str, name: str, data: bytes, *, replace: bool) -> dict[str, Any]:
        """Keep *data* as a file in *folder*; the name is made harmless first."""
        name = file_names.sanitize(name)
        if not name:
            raise ApiError("failed", phrase("Invalid file name."))
        with as_api_errors():
            folder = self._project.normalize(folder)
            path = f"{folder}/{name}" if folder else name
            is_new = self._project.stat(path) is None
            before = None if is_new or not replace else self._read_or_none(path)
            try:
                self._project.write_bytes(
                    path, data, make_folders=True, expected=... if replace else None
                )
            except ContentChanged:
                message = phrase("{path} exists already; nothing was replaced.", path=visible(path))
                raise ApiError("exists", message, path=visible(path)) from None
        if is_new or before is not None:
            self._on_write(path, before, data)
        self._notify("created" if is_new else "modified", path)
        return {"path": visible(path), "hash": digest(data)}

    def content(self, path: str, limit: int = MAX_FILE_BYTES) -> tuple[str, bytes]:
        """Return the usual form of *path* and its bytes, at most *limit*, as they may leave."""
        self._redactor.refresh()
        with as_api_errors():
            path = self._project.normalize(path)
            return path, self._redactor.redact_bytes(self._read_bytes(path, limit))

    def tagged_content(self, path: str) -> tuple[bytes, str]:
        """Return the bytes of *path* as they may leave, and a tag that is another for other bytes.

        A film is asked for in many parts: as long as its stamp shows that nothing of it changed, it
        is hashed once.
        """
        self._redactor.refresh()
        with as_api_errors():
            path = self._project.normalize(path)
            stamp = stamp_of(self._project.stat(path))
            whole = self._read_bytes(path, MAX_FILE_BYTES)
            is_sure = stamp == stamp_of(self._project.stat(path))
        data = self._redactor.redact_bytes(whole)
        if data is not whole or not is_sure or not is_settled(stamp, time.time_ns()):
            return data, digest(data)  # what is hidden in it may be another the next time
        known, tag = self._last_tag
        if known != (path, stamp):
            tag = digest(data)
            self._last_tag = ((path, stamp), tag)
        return data, tag

    def make_folder(self, path: str) -> dict[str, Any]:
        with as_api_errors():
            path = self._project.normalize(path)
            self._project.make_folder(path)
        self._notify("created", path)
        return {"path": visible(path)}

    def rename(self, path: str, new_path: str) -> dict[str, Any]:
        """Move a file or folder; nothing is ever replaced."""
        with as_api_errors():
            path, new_path = self._project.normalize(path), self._project.normalize(new_path)
            self._project.rename(path, new_path)
        change = Change("renamed", path, new_path)
        self._notes.on_files_changed([change])
        self._on_change([change])
        return {"path": visible(new_path)}

    def set_note(self, path: str, note: str, start: int = 0, end: int = 0) -> dict[str, Any]:
        """Set the note on a file, or on its lines *start* to *end*; an empty one removes it."""
        with as_api_errors():
            path = self._project.normalize(path)
            if start:
                self._notes.set_line_note(path, start, max(start, end), note.strip())
            elif note.strip() or self._notes.note(path):
                self._notes.write_note(path, note)
        self._redactor.refresh()
        return {"path": visible(path), **self._notes_on(path)}

    def _notes_on(self, path: str) -> dict[str, Any]:
        redact = self._redactor.redact
        lines = [
            {"start": n.start, "end": n.end, "text": redact(n.text), "is_stale": n.is_stale}
            for n in self._notes.line_notes(path)
        ]
        return {"note": redact(self._notes.note(path)), "line_notes": lines}

    def _read_bytes(self, path: str, limit: int) -> bytes:
        stat_result = self._project.stat(path)
        if (
            stat_result is not None
            and stat.S_ISREG(stat_result.st_mode)
            and stat_result.st_size > limit
        ):
            limit_text = f"{limit // 1_000_000} MB"
            message = phrase("{path} is larger than {limit}.", path=visible(path), limit=limit_text)
            raise ApiError("too_large", message, size=stat_result.st_size)
        return self._project.read_bytes(path, limit)

    def _read_or_none(self, path: str) -> bytes | None:
        """Return what is in the file *path*, None where that cannot be said."""
        with suppress(ToolError):
            return self._project.read_bytes(path, MAX_TEXT_BYTES)
        return None

    def _is_writable(self, path: str) -> bool:
        stat_result = self._project.stat(path)
        is_writable_file = (
            stat_result is not None
            and stat.S_ISREG(stat_result.st_mode)
            and stat_result.st_mode & 0o222
        )
        is_git = self._project.is_git_path(path) or self._project.is_in_repository(path)
        return bool(is_writable_file) and not is_git

    def _read_if_unchanged(self, path: str, base: str) -> bytes:
        """Return the bytes of the file if they are those with the hash *base*."""
        try:
            data = self._project.read_bytes(path)
        except MissingPath:
            raise self._conflict(path) from None
        if digest(data) != base:
            raise self._conflict(path)
        return data

    def _conflict(self, path: str) -> ApiError:
        """Return the refusal that carries what the file holds by now; None if it is gone."""
        message = phrase("{path} has changed in the meantime.", path=visible(path))
        try:
            data = self._project.read_bytes(path)
            text: str | None = self._redactor.redact(TextFile.decode(data).text)
        except MissingPath:
            return ApiError("changed", message, text=None, hash=None)
        except NotText:
            text = None
        return ApiError("changed", message, text=text, hash=digest(data))

    def _notify(self, kind: Any, path: str) -> None:
        self._on_change([Change(kind, path)])


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _decode(path: str, data: bytes) -> TextFile:
    try:
        return TextFile.decode(data)
    except NotText as error:
        raise _not_text_error(path, error, len(data), hash=digest(data)) from None


def _not_text_error(path: str, error: NotText, size: int, **details: Any) -> ApiError:
    message = phrase("{path} is not text but {kind}.", path=visible(path), kind=error.kind)
    preview = file_names.preview_kind(path)
    return ApiError("binary", message, kind=error.kind, size=size, preview=preview, **details)


def _encode(path: str, before: bytes | None, text: str) -> bytes:
    try:
        if before is None:
            return TextFile.new(text).encode()
        return _decode(path, before).encode(text)
    except NotEncodable as error:
        raise ToolError(
            phrase(
                "{path} is kept in {encoding}, which has no {char}.",
                path=visible(path),
                encoding=error.encoding,
                char=repr(error.char),
            )
        ) from None
    except NotRoundTrip:
        raise ToolError(
            phrase(
                "{path} holds bytes that could not be written back as they are.",
                path=visible(path),
            )
        ) from None
