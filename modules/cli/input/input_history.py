"""What the person typed at the prompt in earlier sessions, kept without secrets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from utils.text.keys import without_keys


def typed_before(path: Path, blind: Callable[[str], str]) -> History:
    """Return the history kept in *path*; a file that cannot be used is done without.

    *blind* hides from it the secrets that are known.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return _BlindHistory(path, blind)


class _BlindHistory(FileHistory):
    """Keeps what was typed, but no secret: neither one that is known nor what looks like one."""

    def __init__(self, path: Path, blind: Callable[[str], str]) -> None:
        super().__init__(path)
        self._blind = blind

    def store_string(self, string: str) -> None:
        super().store_string(without_keys(self._blind(string)))
