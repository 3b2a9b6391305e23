"""Decisions of sessions that the person was not offered to remember yet, kept in a file.

They are written down at the end of each task: whichever way a session ends, by a kill as well, the
next one knows them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from utils.system.shared_file import SharedFile

_MOST_SESSIONS = 20

Decisions = dict[str, list[str]]
"""Decisions by session, the session that decided last at the end."""


class SessionDecisions:
    """What sessions of the project decided, in the file of *file*. All of it raises `UserError`."""

    def __init__(self, file: SharedFile) -> None:
        self._file = file
        self._written: tuple[str, Sequence[str]] = ("", ())

    def keep(self, session: str, decisions: Sequence[str]) -> None:
        """Keep *decisions* as those of *session*, in the place of those before."""
        known = self._written[1] if self._written[0] == session else ()
        if list(decisions) == list(known):
            return

        def kept(before: bytes) -> bytes:
            others = {one: said for one, said in _read(before).items() if one != session}
            return _encode({**others, session: list(decisions)} if decisions else others)

        self._file.change(kept)
        self._written = (session, tuple(decisions))

    def take_others(self, session: str) -> list[str]:
        """Return what other sessions than *session* decided, oldest first, and forget it."""
        if not any(one != session for one in _read(self._file.read())):
            return []
        taken: list[str] = []

        def left(before: bytes) -> bytes:
            decided = _read(before)
            taken[:] = [line for one, said in decided.items() if one != session for line in said]
            return _encode({one: said for one, said in decided.items() if one == session})

        self._file.change(left)
        return list(dict.fromkeys(taken))


def _encode(decided: Mapping[str, Sequence[str]]) -> bytes:
    newest = list(decided.items())[-_MOST_SESSIONS:]
    return json.dumps(dict(newest), ensure_ascii=False).encode("utf-8", "replace")


def _read(data: bytes) -> Decisions:
    """Return what *data* holds; nothing of what is damaged, for the sessions themselves have it."""
    try:
        decided = json.loads(data or b"{}")
    except ValueError:
        return {}
    if not isinstance(decided, dict):
        return {}
    return {
        session: [line for line in said if isinstance(line, str)]
        for session, said in decided.items()
        if isinstance(said, list)
    }
