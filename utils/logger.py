"""The log of what went wrong on our side; no key ever gets into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakMethod

from utils.i18n import Phrase, phrase
from utils.text.keys import without, without_keys


@dataclass(frozen=True)
class FailureLog:
    """The file *path*, bounded in size.

    Blotted out of what goes in are each of *secrets*, what looks like a key, and what those hide
    that were given to `hear`.
    """

    path: Path
    secrets: Sequence[str] = ()
    _hiders: list[WeakMethod[Callable[[str], str]]] = field(default_factory=list, repr=False)

    def hear(self, hide: Callable[[str], str]) -> None:
        """Let the method *hide* take secrets out of a text, as long as its object lives."""
        self._hiders[:] = [known for known in self._hiders if known() is not None]
        self._hiders.append(WeakMethod(hide))

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
        for secret in self.secrets:
            text = without(secret, text)
        for hide in filter(None, [known() for known in self._hiders]):
            text = hide(text)
        return without_keys(text)
