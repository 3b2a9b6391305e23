"""Deltas that follow each other closely, as one."""

from __future__ import annotations

import time

from core.events import CallDrafted, Event, TextDelta, ThinkingDelta, ToolOutput

FRAME_SECONDS = 0.033
"""Seconds over which deltas are joined before they get their number."""
MAX_JOINED = 64_000
"""Characters of joined deltas that do not wait for the frame to end."""


class DeltaBuffer:
    """Holds a delta back until its frame is over: the first goes out at once, what follows within a
    frame is joined. Not safe to use from several threads."""

    def __init__(self) -> None:
        self.pending: Event | None = None
        self._deadline = 0.0

    @property
    def seconds_left(self) -> float:
        """How many seconds are left of the frame; 0 or less when what is held may go."""
        return 0.0 if text_length(self.pending) >= MAX_JOINED else self._deadline - time.monotonic()

    def join(self, event: Event) -> bool:
        """Hold *event* as one with what is held; return False when the two are not one."""
        joined = event if self.pending is None else _merged(self.pending, event)
        self.pending = joined or self.pending
        return joined is not None

    def take(self) -> Event | None:
        """Return what was held, and begin a frame with it; None if there was nothing."""
        delta, self.pending = self.pending, None
        if delta is not None:
            self._deadline = time.monotonic() + FRAME_SECONDS
        return delta


def is_delta(event: Event) -> bool:
    """Return whether *event* may wait for more of its kind."""
    return isinstance(event, ThinkingDelta | TextDelta | ToolOutput | CallDrafted)


def text_length(event: Event | None) -> int:
    """Return the characters in a delta; 0 for any other event."""
    return len(event.text) if isinstance(event, ThinkingDelta | TextDelta | ToolOutput) else 0


def _merged(first: Event, second: Event) -> Event | None:
    """Return the one delta that says the same as both; None if there is none."""
    match first, second:
        case TextDelta(start), TextDelta(end):
            return TextDelta(start + end)
        case ThinkingDelta(start), ThinkingDelta(end):
            return ThinkingDelta(start + end)
        case ToolOutput(call_id, start), ToolOutput(same, end) if call_id == same:
            return ToolOutput(call_id, start + end)
        case CallDrafted(name), CallDrafted(same) if name == same:
            return second
        case _:
            return None
