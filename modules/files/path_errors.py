"""Sentences about paths that cannot be used as somebody wants."""

from __future__ import annotations

import errno

from modules.files.editing.text_file import NotText
from utils.i18n import Phrase, phrase
from utils.text.clean import visible
from utils.text.lines import format_size


def os_error(error: OSError, path: str, new_path: str) -> Phrase:
    match error.errno:
        case errno.EISDIR:
            return phrase("{path} is a folder, not a file.", path=path)
        case errno.ENOTDIR:
            return phrase("{path} is not a folder, or goes through a file.", path=path)
        case errno.EEXIST:
            return phrase("{path} exists already; nothing was replaced.", path=new_path or path)
        case errno.ENOTEMPTY:
            return phrase("{path} is not empty.", path=path)
        case errno.EINVAL if new_path:
            return phrase("{path} cannot be moved into itself.", path=path)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return phrase("The system does not permit that for {path}.", path=path)
        case errno.ENOSPC | errno.EDQUOT:
            return phrase("The disk is full; {path} was left as it was.", path=path)
        case _:
            reason = error.strerror or str(error)
            return phrase("{path} cannot be opened or changed: {why}.", path=path, why=reason)


def too_large(path: str, size: int) -> Phrase:
    return phrase(
        "{path} is too large to read whole ({size}); use Python on parts of it.",
        path=visible(path),
        size=format_size(size),
    )


def too_long(path: str, size: int) -> Phrase:
    return phrase(
        "{path} is too large to read whole ({size}); give start_line and end_line.",
        path=visible(path),
        size=format_size(size),
    )


def not_text(path: str, error: NotText, size: int) -> Phrase:
    return phrase(
        "{path} is not text but {kind} ({size}); use Python to look into it.",
        path=visible(path),
        kind=error.kind,
        size=format_size(size),
    )


def outside(path: str) -> Phrase:
    return phrase(
        "{path} leads outside the project folder; only what is inside can be used.",
        path=visible(path),
    )
