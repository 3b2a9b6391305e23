"""Does the task get anywhere? A small memory of what was called, to break loops."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from core.conversation.messages import ToolCall, ToolResult

SAME_TOOL = 8
SAME_CALL = 3
LONGEST_ROUND = 6
"""Calls of the longest round that is known as one: A B C A B C is a round of three, twice."""
WINDOW = 20
"""Calls looked back at."""

Verdict = Literal["", "warn", "think", "ask"]
_PASSING = re.compile(r"@output/\d+|0x[0-9a-f]+|\d+:\d\d:\d\d|\d+(\.\d+)? ?(ms|s|sec|seconds)\b")
"""What differs between two answers that say the same: durations, times, addresses."""


class LoopDetector:
    """Watches the calls of one turn.

    A loop is what brings nothing new: the same (call, answer, state of things) three times among
    the last calls, or a round of several twice in a row, or the same call three times in a row on
    the same state, whatever it answered. At first the model is told and the next step thinks; when
    the loop goes on the person is asked. The same call three times in a row with ever another state
    of things, or the same tool eight times, may be work: it is only warned about, once.
    """

    def __init__(self) -> None:
        self._begin()
        self._last_tool = ""
        self._tools_in_row = 0

    def _begin(self) -> None:
        self._moments: list[str] = []
        self._calls: list[str] = []
        self._states: list[str] = []
        self._changes = 0
        self._told_at: int | None = None
        self._has_read = False

    def next_reply(self) -> None:
        """Take note that a new reply begins: its calls were made knowing what was told before."""
        self._has_read = self._told_at is not None

    def see(
        self, call: ToolCall, answer: ToolResult, standing: str, *, has_changed: bool
    ) -> Verdict:
        """Take note of *call*, its *answer* and how things stand then; say what to do about it.

        *standing* is another when the folder or the todos are; where it is empty, *has_changed*
        says that files changed.
        """
        key = f"{call.name} {_canonical(call)}"
        self._changes += has_changed and not standing
        said = _PASSING.sub("#", answer.text)
        self._calls.append(key)
        self._states.append(f"{standing} {self._changes}")
        self._moments.append(_digest(key, said, self._states[-1]))
        self._tools_in_row = self._tools_in_row + 1 if call.name == self._last_tool else 1
        self._last_tool = call.name
        if size := self._loop():
            return self._tell(size)
        return "warn" if self._tools_in_row == SAME_TOOL or self._repeats_itself() else ""

    def _repeats_itself(self) -> bool:
        """Return whether the last call is the third of its kind in a row and no more."""
        is_third = _is_round(self._calls, 1, SAME_CALL)
        return is_third and not _is_round(self._calls, 1, SAME_CALL + 1)

    def forgive(self) -> None:
        """Begin anew: the person lets it go on."""
        self._begin()

    def _tell(self, size: int) -> Verdict:
        now = len(self._moments)
        if self._told_at is None:
            self._told_at = now
            return "think"
        return "ask" if self._has_read and now - self._told_at >= size else ""

    def _loop(self) -> int:
        """Return how many calls the loop has that the last call ends, 0 for none."""
        if _is_round(self._calls, 1, SAME_CALL) and _is_round(self._states, 1, SAME_CALL):
            return 1
        for size in range(2, LONGEST_ROUND + 1):
            if _is_round(self._moments, size, 2):
                return size
        recent = self._moments[-WINDOW:]
        return int(recent.count(recent[-1]) >= SAME_CALL)


def _is_round(items: Sequence[str], size: int, times: int) -> bool:
    """Return whether *items* end in the same *size* items so many *times*."""
    tail = items[-size * times :]
    return len(tail) == size * times and list(tail) == list(tail[:size]) * times


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(call: ToolCall) -> str:
    return call.broken or json.dumps(json.loads(call.arguments), sort_keys=True)
