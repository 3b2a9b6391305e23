"""Checks a document that is to be handed over: opened by a library of its kind, it is whole."""

from __future__ import annotations

from modules.documents.kinds import MAX_DOCUMENT_BYTES, kind_of
from modules.documents.problems import DocumentError, damaged, empty, too_large
from modules.documents.worker_process import run_worker


def check_document(name: str, data: bytes, *, part: str = "") -> None:
    """Raise `DocumentError` unless *data*, the content of the file *name*, is a whole document.

    Its kind is told by its content, and by *name* where that is broken. The message names the file
    and the reason ("slide 3 has text outside the page"). With *part*, of others only that slide or
    sheet was made: what was wrong with the rest before is no reason.
    """
    if not data.strip(b"\0 \t\r\n"):
        raise DocumentError(empty(name))
    if len(data) > MAX_DOCUMENT_BYTES:
        raise DocumentError(too_large(name, len(data), MAX_DOCUMENT_BYTES))
    if (kind := kind_of(name, data)) is None:
        raise DocumentError(damaged(name))
    run_worker("check", kind, name, [data], {"part": part})
