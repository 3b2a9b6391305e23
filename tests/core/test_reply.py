"""A call that the model wrote as text runs, is asked about, or is text; never a success."""

from __future__ import annotations

import json

from core.events import Informed, TextDelta, TurnFinished
from core.messages import Assistant, ToolAnswer
from core.turn import NOT_CALLED
from tests.core.test_turn import Box, check_whole, requests, talk_of
from tests.scripted import call, run, say, terminal

CALL = json.dumps({"name": "look", "arguments": {"at": "a"}})


def test_a_call_written_as_text_runs_and_is_kept_as_a_call() -> None:
    box = Box()
    main = terminal(say(f"I look.\n```json\n{CALL}\n```"), say("Seen."), families=[box])
    events = run(main, "look at a")
    assert box.ran == ["look a 1"]
    assert [event.text for event in events if isinstance(event, TextDelta)] == [
        "I look.\n",
        "Seen.",
    ]
    assert len([event for event in events if isinstance(event, Informed)]) == 1
    reply, answer = talk_of(main)[1:3]
    assert isinstance(reply, Assistant)
    assert reply.text == "I look."
    assert [one.name for one in reply.calls] == ["look"]
    assert isinstance(answer, ToolAnswer)
    check_whole(requests(main)[-1])


def test_a_call_in_doubt_is_asked_about_once() -> None:
    box = Box()
    doubtful = f"{CALL}\nDone, it is all there."
    main = terminal(say(doubtful), call("look", at="a"), say("Seen."), families=[box])
    events = run(main, "look at a")
    assert box.ran == ["look a 1"]
    assert requests(main)[1][-1] == {"role": "system", "content": NOT_CALLED}
    assert isinstance(events[-1], TurnFinished)
    again = terminal(say(doubtful), say(doubtful), families=[Box()])
    run(again, "look at a")
    assert len(requests(again)) == 2


def test_a_call_that_is_shown_stays_text() -> None:
    box = Box()
    text = f"A call looks like this:\n```json\n{CALL}\n```"
    main = terminal(say(text), families=[box])
    run(main, "How do you call?")
    assert box.ran == []
    assert talk_of(main)[1].text == text
    assert len(requests(main)) == 1
