"""Errors of SQLite in sentences for people: a broken file, a full disk, no permission."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from utils.i18n import Phrase, phrase

if TYPE_CHECKING:
    from sqlite3 import Error

_DAMAGE_MESSAGES = (
    "no such table: ",
    "no such column: ",
    "Could not decode",
    "unsupported file format",
)
"""Messages of SQLite, without a code of their own, on a file that we did not write so."""
_SQLITE_FORMAT = 24  # SQLITE_FORMAT, which the module of Python does not name
_MIN_FREE_BYTES = 65_536  # bytes


def code_of(error: Error) -> int:
    """Return SQLite's primary result code, 0 for an error of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_damage(error: Error) -> bool:
    import sqlite3

    message = str(error)
    return code_of(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, _SQLITE_FORMAT) or (
        message.startswith(_DAMAGE_MESSAGES)
        or message.endswith("already exists")
        or " has no column " in message
    )


def is_write_refusal(error: Error | OSError) -> bool:
    """Return whether writing was refused, so that reading may still be possible."""
    import errno
    import sqlite3

    if isinstance(error, OSError):
        return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT)
    return code_of(error) in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
    )


def explanation(error: Error, path: str) -> Phrase | None:
    """Return a sentence on the file at *path*; None for a mistake of ours."""
    import sqlite3

    match code_of(error):
        case _ if is_damage(error):
            return damaged(path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return phrase(
                "{path} is locked by another program. Close that program and try again.", path=path
            )
        case sqlite3.SQLITE_FULL:
            return disk_full(path)
        case sqlite3.SQLITE_IOERR if _has_no_room(path):
            return disk_full(path)
        case (
            sqlite3.SQLITE_READONLY
            | sqlite3.SQLITE_CANTOPEN
            | sqlite3.SQLITE_PERM
            | sqlite3.SQLITE_IOERR
            | sqlite3.SQLITE_PROTOCOL
            | sqlite3.SQLITE_NOLFS
        ):
            return unusable(path, str(error))
        case _:
            return None


def damaged(path: str) -> Phrase:
    return phrase(
        "{path} is damaged. Nothing was changed. Move it away to start over, or try to "
        "recover it with sqlite3's .recover.",
        path=path,
    )


def disk_full(path: str) -> Phrase:
    return phrase(
        "The disk is full: cannot write to {path}. Saved data is safe. Free up space and try "
        "again.",
        path=path,
    )


def _has_no_room(path: str) -> bool:
    """Return whether the disk has no room for the index of a log, which SQLite calls an error."""
    try:
        return shutil.disk_usage(Path(path).parent).free < _MIN_FREE_BYTES
    except OSError:
        return False


def unusable(path: str, why: str) -> Phrase:
    return phrase(
        "Cannot use {path}: {why}. Fix that, or choose another data folder with ONEFOLD_DATA_DIR.",
        path=path,
        why=why,
    )


def read_only(path: str, error: Error | OSError) -> Phrase:
    """Return that the file at *path* was opened to read only, because of *error*."""
    if _has_no_room(path):
        return disk_full(path)
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return phrase(
        "{path} is read-only: {why}. Fix that, or choose another data folder with "
        "ONEFOLD_DATA_DIR.",
        path=path,
        why=why,
    )
