from __future__ import annotations

from typing import Any

from core.conversation.transcript import Packet, Transcript, replay_events
from core.events import to_json
from tests.core.loop.test_turn import Box
from tests.scripted_model import USED, Item, call_reply, run_turn, terminal, text_reply
from utils.api_client import Completion, Delta, Retry
from utils.i18n import phrase

LOOSE = ("seconds", "detail", "changes", "thinks")


def picture(events: list[Packet]) -> list[tuple[Any, ...]]:
    """Return what a screen would show of *events*, without what no record keeps."""
    kept = [event for event in events if event["type"] != "CallDrafted"]
    return [tuple((k, v) for k, v in e.items() if k not in LOOSE) for e in kept]


def test_the_records_tell_what_the_events_told() -> None:
    main = terminal(
        call_reply("look", thinking="hm", at="a"),
        text_reply("seen"),
        text_reply("more"),
        features=[Box()],
    )
    main.mode = "think"
    events = [to_json(e) for line in ("one", "two") for e in run_turn(main, line)]
    folded = Transcript()
    for event in events:
        folded.add(event)
    again = [to_json(event) for event in replay_events(main.history.records)]
    assert picture(folded.tail(30)[1]) == picture(again)
    assert "ThoughtKept" in [event["type"] for event in again]


def test_what_no_longer_counts_is_folded_away() -> None:
    retry = Retry(phrase("It broke off."), 1, 0.1)
    reply: list[Item] = [Delta("wro"), Delta("ng"), retry, Delta("ri"), Delta("ght")]
    main = terminal([*reply, Completion("right", "", (), USED)])
    folded = Transcript()
    for event in run_turn(main, "go"):
        folded.add(to_json(event))
    types = [(e["type"], e.get("text")) for e in folded.tail(1)[1]]
    assert types == [
        ("TurnStarted", "go"),
        ("StepStarted", None),
        ("Retrying", None),
        ("TextDelta", "right"),
        ("StepFinished", None),
        ("TurnFinished", None),
    ]


def test_older_turns_come_by_part() -> None:
    folded = Transcript()
    folded.add({"type": "CommandAnswered", "command": "/help"})
    for turn in range(1, 6):
        folded.add({"type": "TurnStarted", "text": "x", "turn": turn})
    first, events = folded.tail(2)
    assert (first, [e["turn"] for e in events]) == (4, [4, 5])
    first, events = folded.tail(2, before=first)
    assert (first, [e["turn"] for e in events]) == (2, [2, 3])
    first, events = folded.tail(2, before=first)
    assert (first, [e["type"] for e in events]) == (1, ["CommandAnswered", "TurnStarted"])
    assert Transcript().tail(30) == (1, [])


def test_a_turn_that_onefold_did_not_outlive_is_told_as_interrupted() -> None:
    main = terminal(call_reply("look"), text_reply("x"), features=[Box()])
    run_turn(main, "go")
    cut = [(turn, record) for turn, record in main.history.records if record.kind != "assistant"]
    ends = [to_json(event)["why"] for event in replay_events(cut[:3]) if "Finished" in str(event)]
    assert ends == ["interrupted"]
