"""State machine of the thread of a session: its states, its events, and which leads where."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class RunState(Enum):
    """State of a run, and what is to become of what waits once it is over."""

    IDLE = "idle"
    """Nothing runs; what waits does so until somebody says more."""
    RUNNING = "running"
    """Something runs; what waits follows if that ends well."""
    STOPPING = "stopping"
    """What runs was stopped; what waits does so on."""
    SWITCHING = "switching"
    """What runs was stopped for what is next, which follows however that ends."""

    @property
    def is_busy(self) -> bool:
        return self is not RunState.IDLE

    @property
    def is_stopping(self) -> bool:
        return self in (RunState.STOPPING, RunState.SWITCHING)


class RunEvent(Enum):
    """Event that happens to a run."""

    BEGIN = "begin"
    """Something begins to run where nothing did."""
    STOP = "stop"
    """Somebody stops what runs."""
    SWITCH = "switch"
    """Somebody stops what runs so that another message is next."""
    NEXT = "next"
    """What ran is over, and the next message begins."""
    END = "end"
    """What ran is over, and nothing follows."""


TRANSITIONS: Mapping[tuple[RunState, RunEvent], RunState] = {
    (RunState.IDLE, RunEvent.BEGIN): RunState.RUNNING,
    (RunState.RUNNING, RunEvent.STOP): RunState.STOPPING,
    (RunState.RUNNING, RunEvent.SWITCH): RunState.SWITCHING,
    (RunState.RUNNING, RunEvent.NEXT): RunState.RUNNING,
    (RunState.RUNNING, RunEvent.END): RunState.IDLE,
    (RunState.STOPPING, RunEvent.STOP): RunState.STOPPING,
    (RunState.STOPPING, RunEvent.SWITCH): RunState.SWITCHING,
    (RunState.STOPPING, RunEvent.END): RunState.IDLE,
    (RunState.SWITCHING, RunEvent.STOP): RunState.STOPPING,
    (RunState.SWITCHING, RunEvent.SWITCH): RunState.SWITCHING,
    (RunState.SWITCHING, RunEvent.NEXT): RunState.RUNNING,
    (RunState.SWITCHING, RunEvent.END): RunState.IDLE,
}
"""What follows; what is not here cannot happen, and is our own mistake where it does."""


def after(state: RunState, event: RunEvent) -> RunState:
    """Return the state that *event* leads to. Raises `ValueError` where it cannot happen."""
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise ValueError(f"{event.value} cannot happen while {state.value}") from None
