"""Loop detection: a small memory of the calls of a turn, to break loops."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from core.conversation.messages import ToolCall, ToolResult

SAME_TOOL_LIMIT = 8
SAME_CALL_LIMIT = 3
MAX_CYCLE_LENGTH = 6
"""Calls of the longest round that is known as one: A B C A B C is a round of three, twice."""
RECENT_CALLS = 20
"""Calls looked back at."""

Verdict = Literal["", "warn", "think", "ask"]
_VOLATILE = re.compile(r"@output/\d+|0x[0-9a-f]+|\d+:\d\d:\d\d|\d+(\.\d+)? ?(ms|s|sec|seconds)\b")
"""Differences between two answers that say the same: durations, times, addresses."""


class LoopDetector:
    """Watches the calls of one turn.

    A loop is what brings nothing new: the same (call, answer, state of things) three times among
    the last calls, or a round of several twice in a row, or the same call three times in a row on
    the same state, whatever it answered. At first the model is told and the next step thinks; when
    the loop goes on the person is asked. The same call three times in a row with ever another state
    of things, or the same tool eight times, may be work: it is only warned about, once.
    """

    def __init__(self) -> None:
        self._clear()
        self._last_tool = ""
        self._tools_in_row = 0

    def _clear(self) -> None:
        self._fingerprints: list[str] = []
        self._calls: list[str] = []
        self._states: list[str] = []
        self._changes = 0
        self._warned_at: int | None = None
        self._was_warning_read = False

    def begin_reply(self) -> None:
        """Take note that a new reply begins: its calls were made knowing what was told before."""
        self._was_warning_read = self._warned_at is not None

    def observe(
        self, call: ToolCall, result: ToolResult, state_fingerprint: str, *, has_changed: bool
    ) -> Verdict:
        """Take note of *call*, its *result* and how things stand then; say what to do about it.

        *state_fingerprint* is another when the folder or the todos are; where it is empty,
        *has_changed* says that files changed.
        """
        key = f"{call.name} {_canonical(call)}"
        self._changes += has_changed and not state_fingerprint
        stable_text = _VOLATILE.sub("#", result.text)
        self._calls.append(key)
        self._states.append(f"{state_fingerprint} {self._changes}")
        self._fingerprints.append(_digest(key, stable_text, self._states[-1]))
        self._tools_in_row = self._tools_in_row + 1 if call.name == self._last_tool else 1
        self._last_tool = call.name
        if size := self._cycle_length():
            return self._escalate(size)
        return "warn" if self._tools_in_row == SAME_TOOL_LIMIT or self._repeats_itself() else ""

    def _repeats_itself(self) -> bool:
        """Return whether the last call is the third of its kind in a row and no more."""
        is_third = _ends_in_cycle(self._calls, 1, SAME_CALL_LIMIT)
        return is_third and not _ends_in_cycle(self._calls, 1, SAME_CALL_LIMIT + 1)

    def reset(self) -> None:
        """Begin anew: the person lets it go on."""
        self._clear()

    def _escalate(self, size: int) -> Verdict:
        call_count = len(self._fingerprints)
        if self._warned_at is None:
            self._warned_at = call_count
            return "think"
        return "ask" if self._was_warning_read and call_count - self._warned_at >= size else ""

    def _cycle_length(self) -> int:
        """Return how many calls the loop has that the last call ends, 0 for none."""
        if _ends_in_cycle(self._calls, 1, SAME_CALL_LIMIT) and _ends_in_cycle(
            self._states, 1, SAME_CALL_LIMIT
        ):
            return 1
        for size in range(2, MAX_CYCLE_LENGTH + 1):
            if _ends_in_cycle(self._fingerprints, size, 2):
                return size
        recent = self._fingerprints[-RECENT_CALLS:]
        return int(recent.count(recent[-1]) >= SAME_CALL_LIMIT)


def _ends_in_cycle(items: Sequence[str], size: int, times: int) -> bool:
    """Return whether *items* end in the same *size* items so many *times*."""
    tail = items[-size * times :]
    return len(tail) == size * times and list(tail) == list(tail[:size]) * times


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(call: ToolCall) -> str:
    return call.broken or json.dumps(json.loads(call.arguments), sort_keys=True)
