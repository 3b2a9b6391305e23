from __future__ import annotations

from modules.cli.attach.packet_reader import events_since


def test_what_is_new_since_a_turn_is_known_by_its_number_or_who_sent_it() -> None:
    """Another Onefold may have gone on with the session: what it was told bears no id for us."""
    first, second = {"type": "TurnStarted", "turn": 1}, {"type": "TurnStarted", "turn": 2}
    end = {"type": "TurnFinished"}
    assert events_since([first, end, second, end], 1) == [second, end]
    assert events_since([first, end, {**end, "cmd": "c"}], 1) == [{**end, "cmd": "c"}]
    assert not events_since([first, end], 1)
