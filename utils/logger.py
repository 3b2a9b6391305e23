"""Log of failures on our side; no key ever gets into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from weakref import WeakMethod

from utils.frozen import frozen
from utils.i18n import Phrase, phrase
from utils.text.keys import redact_keys, redact_secret


@frozen
class FailureLog:
    """The file *path*, bounded in size.

    Redacted are each of *secrets*, all that looks like a key, and whatever the methods redact
    that were given to `add_redactor`.
    """

    path: Path
    secrets: Sequence[str] = ()
    _redactors: list[WeakMethod[Callable[[str], str]]] = field(default_factory=list, repr=False)

    def add_redactor(self, redact: Callable[[str], str]) -> None:
        """Use the method *redact* on each text, as long as its object lives."""
        self._redactors[:] = [reference for reference in self._redactors if reference() is not None]
        self._redactors.append(WeakMethod(redact))

    def log(self, error: BaseException) -> Phrase:
        """Append *error* with its traceback; return a message for the person, in one line.

        A log that cannot be written is given up: it must not hide the error itself.
        """
        import logging  # only now: it costs start-up time
        from logging.handlers import RotatingFileHandler

        exc_info = (type(error), error, error.__traceback__)
        record = logging.LogRecord("onefold", logging.ERROR, "", 0, "%s", (error,), exc_info)
        text = self._redacted(logging.Formatter("%(asctime)s %(message)s").format(record))
        with suppress(OSError):
            handler = RotatingFileHandler(
                self.path, maxBytes=1_000_000, backupCount=2, encoding="utf-8", errors="replace"
            )
            handler.emit(logging.makeLogRecord({"msg": text}))
            handler.close()
        return phrase(
            "Internal error in Onefold: {what}. Details are in {log}.",
            what=self._redacted(f"{type(error).__name__}: {error}"),
            log=str(self.path),
        )

    def _redacted(self, text: str) -> str:
        for secret in self.secrets:
            text = redact_secret(secret, text)
        for redact in filter(None, [reference() for reference in self._redactors]):
            text = redact(text)
        return redact_keys(text)
