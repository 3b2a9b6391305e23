"""Lines typed at the prompt in earlier sessions, kept without secrets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from utils.text.keys import redact_keys


def open_history(path: Path, redact: Callable[[str], str]) -> History:
    """Return the history kept in *path*; a file that cannot be used is done without.

    *redact* hides from it the secrets that are known.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return _RedactedHistory(path, redact)


class _RedactedHistory(FileHistory):
    """Keeps what was typed, but no secret: neither one that is known nor what looks like one."""

    def __init__(self, path: Path, redact: Callable[[str], str]) -> None:
        super().__init__(path)
        self._redact = redact

    def store_string(self, string: str) -> None:
        super().store_string(redact_keys(self._redact(string)))
