"""Does the task get anywhere? A small memory of what was called, to break loops."""

from __future__ import annotations

import json
from collections import Counter
from typing import Literal

from core.messages import ToolAnswer, ToolCall

SAME_TOOL = 8
SAME_CALL = 3

Verdict = Literal["", "warn", "stop"]


class Progress:
    """Watches the calls of one turn.

    The same call with the same arguments three times in a row, or three times with the same answer
    while no file changed, is a loop: the first time the model is warned, after that the task is
    stopped. The same tool eight times in a row with ever other arguments may be work: it is only
    warned about, once.
    """

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str]] = Counter()
        self._last_call = ""
        self._last_tool = ""
        self._calls_in_row = 0
        self._tools_in_row = 0
        self._is_warned = False

    def see(self, call: ToolCall, answer: ToolAnswer, *, has_changed: bool) -> Verdict:
        """Take note of *call*, its *answer* and whether files changed; say what to do about it."""
        key = f"{call.name} {_canonical(call)}"
        self._calls_in_row = self._calls_in_row + 1 if key == self._last_call else 1
        self._tools_in_row = self._tools_in_row + 1 if call.name == self._last_tool else 1
        self._last_call, self._last_tool = key, call.name
        if has_changed:
            self._answers.clear()
        self._answers[key, answer.text] += 1
        if max(self._calls_in_row, self._answers[key, answer.text]) >= SAME_CALL:
            return self._looping()
        return "warn" if self._tools_in_row == SAME_TOOL else ""

    def _looping(self) -> Verdict:
        verdict: Verdict = "stop" if self._is_warned else "warn"
        self._is_warned = True
        return verdict


def _canonical(call: ToolCall) -> str:
    return call.broken or json.dumps(json.loads(call.arguments), sort_keys=True)
