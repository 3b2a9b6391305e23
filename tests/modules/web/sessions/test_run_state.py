"""What a session's thread is at: which of it can follow on what."""

from __future__ import annotations

import pytest

from modules.web.sessions.run_state import TRANSITIONS, RunEvent, RunState, after


def test_the_last_word_of_a_person_says_whether_what_waits_goes_on() -> None:
    state = after(RunState.RUNNING, RunEvent.SWITCH)
    assert after(state, RunEvent.NEXT) is RunState.RUNNING
    state = after(state, RunEvent.STOP)
    with pytest.raises(ValueError, match="next cannot happen while stopping"):
        after(state, RunEvent.NEXT)
    assert after(after(state, RunEvent.SWITCH), RunEvent.NEXT) is RunState.RUNNING


def test_nothing_is_stopped_and_nothing_ends_where_nothing_runs() -> None:
    assert [event for state, event in TRANSITIONS if state is RunState.IDLE] == [RunEvent.BEGIN]


@pytest.mark.parametrize("state", [one for one in RunState if one.is_busy])
def test_whatever_runs_can_be_stopped_and_ends_and_is_not_begun_twice(state: RunState) -> None:
    assert after(state, RunEvent.STOP).is_stopping
    assert after(state, RunEvent.END) is RunState.IDLE
    assert (state, RunEvent.BEGIN) not in TRANSITIONS
