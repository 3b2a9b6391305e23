"""The log of what went wrong on our side; no key ever gets into it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from utils.phrases import Phrase, phrase


@dataclass(frozen=True)
class FailureLog:
    """The file *path*, bounded in size; each of *secrets* is blotted out of what goes in."""

    path: Path
    secrets: Sequence[str] = ()

    def keep(self, error: BaseException) -> Phrase:
        """Append *error* with its traceback; return what to tell the person, in one line.

        A log that cannot be written is given up: it must not hide the error itself.
        """
        import logging  # only now: it costs start-up time
        from logging.handlers import RotatingFileHandler

        failure = (type(error), error, error.__traceback__)
        record = logging.LogRecord("onefold", logging.ERROR, "", 0, "%s", (error,), failure)
        text = self._blotted(logging.Formatter("%(asctime)s %(message)s").format(record))
        with suppress(OSError):
            handler = RotatingFileHandler(
                self.path, maxBytes=1_000_000, backupCount=2, encoding="utf-8", errors="replace"
            )
            handler.emit(logging.makeLogRecord({"msg": text}))
            handler.close()
        return phrase(
            "Something went wrong in Onefold: {what}. Details are in {log}.",
            what=self._blotted(f"{type(error).__name__}: {error}"),
            log=str(self.path),
        )

    def _blotted(self, text: str) -> str:
        for secret in filter(None, self.secrets):
            text = text.replace(secret, "…")
        return text
