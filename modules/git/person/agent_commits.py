"""Commits of the agent: those that stand in the log of HEAD since a call, and did not before it.

Checkpoints hold the state of git around every call that may change the folder, the log of HEAD
(`logs/HEAD`) with it. So this is known as long as they are kept, and of no commit that was made
while neither a call nor a background job of the agent's ran.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modules.checkpoints.late_checkpoints import LateCheckpoints
from utils.i18n import UserError

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints

PERSON_CALL = "git-by-hand-"
"""What the ids of the records of the person's own acts begin with."""
_MADE = re.compile(
    rb"[0-9a-f]{40,64} (?P<id>[0-9a-f]{40,64}) .*"
    rb"\t(?:commit|merge|cherry-pick|revert|rebase|am)\b(?!.*Fast-forward)"
)
_MAX_CALLS = 3_000  # the newest of all sessions


@dataclass(frozen=True, slots=True)
class AgentMark:
    """What is known of the origin of a commit: the *session*, *turn* and call that made it."""

    session: str
    turn: int
    call_id: str


class AgentCommits:
    """Knows the commits that calls have made, from what *checkpoints* hold."""

    def __init__(self, checkpoints: LateCheckpoints) -> None:
        self._late_checkpoints = checkpoints
        self._looked_at: set[int] = set()
        self._marks: dict[str, AgentMark] = {}

    def marks(self) -> dict[str, AgentMark]:
        """Return the mark of each commit, by its id; none where no checkpoint was ever taken."""
        if not self._late_checkpoints.exist():
            return {}
        with suppress(UserError):  # a store that cannot be read marks nothing
            self._look()
        return dict(self._marks)

    def _look(self) -> None:
        checkpoints = self._late_checkpoints.get()
        for session, call in checkpoints.index.newest_calls(_MAX_CALLS):
            if call.after is None or call.id in self._looked_at:
                continue
            self._looked_at.add(call.id)
            if not call.call_id.startswith(PERSON_CALL):
                for commit in _made(checkpoints, call.before, call.after):
                    self._marks.setdefault(commit, AgentMark(session, call.turn, call.call_id))


def _made(checkpoints: Checkpoints, before: int, after: int) -> list[str]:
    """Return the commits that were made between the two snapshots, by the log of HEAD."""
    from modules.checkpoints.head_log import added_to_log  # loaded with checkpoints

    lines = added_to_log(checkpoints, before, after)
    return [match["id"].decode() for line in lines if (match := _MADE.match(line))]
