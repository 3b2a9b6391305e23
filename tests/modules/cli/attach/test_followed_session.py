"""What an attached terminal knows of its session, and how it stands to the server."""

from __future__ import annotations

import pytest

from modules.cli.attach.connection_state import (
    CONNECTION_TRANSITIONS,
    ConnectionEvent,
    ConnectionState,
)
from modules.cli.attach.followed_session import FollowedSession

STARTED = {"type": "TurnStarted", "turn": 1, "cmd": "c1"}
FINISHED = {"type": "TurnFinished"}


def test_a_session_that_goes_while_the_server_is_away_is_told_from_a_deleted_one() -> None:
    deleted, gone = FollowedSession("a"), FollowedSession("b")
    deleted.on_connection(ConnectionEvent.DELETE)
    gone.on_connection(ConnectionEvent.BREAK)
    gone.on_connection(ConnectionEvent.DELETE)
    assert deleted.connection is ConnectionState.DELETED
    assert not deleted.connection.is_lost
    assert gone.connection is ConnectionState.GONE
    assert gone.connection.is_lost
    assert deleted.connection.is_over
    assert gone.connection.is_over


@pytest.mark.parametrize("state", ConnectionState)
def test_nothing_follows_on_the_end_of_a_session_and_everything_can_befall_another(
    state: ConnectionState,
) -> None:
    events = {event for before, event in CONNECTION_TRANSITIONS if before is state}
    assert events == (set() if state.is_over else set(ConnectionEvent))


def test_only_a_change_of_the_connection_is_news() -> None:
    session = FollowedSession("a")
    events = [ConnectionEvent.HEAR, *[ConnectionEvent.BREAK] * 2, *[ConnectionEvent.HEAR] * 2]
    assert [session.on_connection(one) for one in events] == [False, True, False, True, False]


def test_a_turn_that_is_over_before_it_was_shown_is_still_awaited() -> None:
    session = FollowedSession("a", expected_command="c1")
    session.on_events([STARTED, FINISHED])
    assert session.on_shown(STARTED)
    assert session.is_busy
    assert not session.on_shown(FINISHED)
    assert not session.is_awaited
    assert not session.is_empty


def test_what_went_with_the_old_server_is_awaited_no_longer() -> None:
    session = FollowedSession("a", expected_command="c1")
    session.on_restart({"events": [], "state": {"queue": [{"id": "c1"}]}})
    assert session.is_awaited
    session.on_restart({"events": [], "state": {"queue": []}})
    assert not session.is_awaited
