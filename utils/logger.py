"""The log of what went wrong on our side; no key ever gets into it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def log_failure(path: Path, error: BaseException, secrets: Sequence[str] = ()) -> None:
    """Append *error* with its traceback to the log at *path*, each of *secrets* blotted out.

    A log that cannot be written is given up silently: it must not hide the error itself.
    """
    import logging
    from contextlib import suppress
    from logging.handlers import RotatingFileHandler

    class Blot(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            text = super().format(record)
            for secret in filter(None, secrets):
                text = text.replace(secret, "…")
            return text

    with suppress(OSError):
        handler = RotatingFileHandler(path, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
        handler.setFormatter(Blot("%(asctime)s %(levelname)s %(message)s"))
        failure = (type(error), error, error.__traceback__)
        record = logging.LogRecord("onefold", logging.ERROR, "", 0, "%s", (error,), failure)
        handler.emit(record)
        handler.close()
