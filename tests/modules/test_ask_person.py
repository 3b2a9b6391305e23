"""The model's own questions: asked on the screen, in words of the person's, and after a kill."""

from __future__ import annotations

import pytest

from core.conversation.messages import ToolResult
from core.events import ApprovalAsked, Event, Reply, ToolFinished, TurnFinished
from core.loop.turn import drive
from modules.ask_person import AskPerson
from tests.scripted_model import MemoryStore, call_reply, run_turn, terminal, text_reply

QUESTION = call_reply("ask_person", question="Which one?", choices=["SQLite", "Postgres"])


def answer_read(events: list[Event], requests: list[list[dict[str, str]]]) -> tuple[str, str]:
    """Return how the call ended, and what the model read of it."""
    (finished,) = [event for event in events if isinstance(event, ToolFinished)]
    return finished.state, requests[-1][-1]["content"]


@pytest.mark.parametrize(
    ("reply", "state", "told"),
    [
        (Reply(yes=True, text="SQLite"), "done", "The person answers: SQLite"),
        (Reply(yes=False), "done", "gives no answer"),
        (Reply(yes=True), "done", "gives no answer"),  # a yes without words is none
        (None, "refused", "nobody is here to answer"),
    ],
)
def test_the_model_reads_what_the_person_answers(
    reply: Reply | None, state: str, told: str
) -> None:
    main = terminal(QUESTION, text_reply("Fine."), features=[AskPerson()])
    events = run_turn(main, "hi", reply)
    asked = next(event for event in events if isinstance(event, ApprovalAsked))
    assert (asked.risk, str(asked.why)) == ("question", "Which one?")
    assert asked.choices == ("SQLite", "Postgres")
    seen_state, text = answer_read(events, main.model.requests)  # type: ignore[attr-defined]
    assert seen_state == state
    assert told in text


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        *((" ", []), ("Which?", ["a", "a"]), ("Which?", ["a", " "]), ("Which?", list("abcde"))),
        *(("x" * 4_001, []), ("Which?", ["a" * 201]), ("Which?", ["keep\n2  delete"])),
        *(("\u200b\x1b[2J", []), ("Which?", ["a", "a\u200b"]), ("Which?", ["a\u202e", "a"])),
    ],
)
def test_a_question_that_cannot_be_answered_is_not_asked(question: str, choices: list[str]) -> None:
    call = call_reply("ask_person", question=question, choices=choices)
    main = terminal(call, text_reply("Fine."), features=[AskPerson()])
    events = run_turn(main, "hi", Reply(yes=True, text="a"))
    assert not [event for event in events if isinstance(event, ApprovalAsked)]
    assert answer_read(events, main.model.requests)[0] == "failed"  # type: ignore[attr-defined]


def test_nothing_hides_in_what_is_asked() -> None:
    call = call_reply("ask_person", question="Wh\u202eich\x1b]0;x\x07?", choices=["\x1b[8mb\u200b"])
    main = terminal(call, text_reply("Fine."), features=[AskPerson()])
    events = run_turn(main, "hi", Reply(yes=True, text="b"))
    asked = next(event for event in events if isinstance(event, ApprovalAsked))
    assert (str(asked.why), asked.choices) == ("Which?", ("b",))


def test_it_is_asked_again_after_a_kill() -> None:
    store, kept = MemoryStore(), MemoryStore()
    main = terminal(QUESTION, features=[AskPerson()], store=store)

    def die(event: Event) -> None:
        if isinstance(event, ApprovalAsked):
            kept.records = {name: list(log) for name, log in store.records.items()}
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drive(main.run_line("hi"), die)
    again = terminal(text_reply("Fine."), features=[AskPerson()], store=kept)
    again.resume()
    assert again.has_open_turn
    events: list[Event] = []

    def answer(event: Event) -> Reply | None:
        events.append(event)
        return Reply(yes=True, text="Postgres") if isinstance(event, ApprovalAsked) else None

    drive(again.resume_turn(), answer)
    assert isinstance(events[-1], TurnFinished)
    results = [record for _, record in again.history.records if isinstance(record, ToolResult)]
    assert [result.text for result in results] == ["The person answers: Postgres"]
