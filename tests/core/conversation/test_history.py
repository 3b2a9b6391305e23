from __future__ import annotations

import random

from core.conversation.history import History, TurnRecord, repaired
from core.conversation.messages import Assistant, Context, StateRecord, ToolCall, ToolResult, User
from core.conversation.result_texts import LOST_TEXT
from utils.context_manager import first_turn_kept


def reply(*ids: str) -> Assistant:
    return Assistant(calls=tuple(ToolCall(id, "look", "{}") for id in ids))


def answer(id: str) -> ToolResult:
    return ToolResult(id, "look", f"saw {id}")


def test_a_lost_answer_is_given_at_the_end() -> None:
    records: list[TurnRecord] = [(1, User("hi")), (1, reply("a", "b")), (1, answer("a"))]
    assert repaired(records) == [*records, (1, ToolResult("b", "look", LOST_TEXT, "stopped"))]


def test_orphans_and_doubles_are_dropped() -> None:
    records: list[TurnRecord] = [
        (1, answer("x")), (1, User("hi")), (1, reply("a")), (1, answer("a")), (1, answer("a")),
    ]  # fmt: skip
    assert repaired(records) == [records[1], records[2], records[3]]


def test_what_stands_between_a_reply_and_its_answers_comes_after_them() -> None:
    note, shift = Context("news"), StateRecord("focus", [])
    records: list[TurnRecord] = [(1, reply("a")), (1, note), (1, shift), (1, answer("a"))]
    assert repaired(records) == [(1, reply("a")), (1, shift), (1, answer("a")), (1, note)]


def test_any_piece_of_any_history_mends_to_a_whole_one() -> None:
    chance = random.Random(7)
    for _ in range(300):
        records: list[TurnRecord] = []
        for turn in range(chance.randint(1, 4)):
            records.append((turn, User("hi")))
            for step in range(chance.randint(0, 3)):
                ids = [f"{turn}.{step}.{n}" for n in range(chance.randint(0, 3))]
                records += [(turn, reply(*ids)), *((turn, answer(id)) for id in ids)]
        torn = [record for record in records if chance.random() > 0.2]
        whole = repaired(torn)
        waiting: list[str] = []
        for _, record in whole:
            if isinstance(record, ToolResult):
                waiting.remove(record.call_id)
                continue
            assert not waiting
            waiting = [c.id for c in record.calls] if isinstance(record, Assistant) else []
        assert not waiting
        assert repaired(whole) == whole


def test_what_mending_added_is_kept_too() -> None:
    kept: list[TurnRecord] = []
    history = History(lambda turn, *records: kept.extend((turn, one) for one in records))
    history.replay([(1, User("hi")), (1, reply("a"))])
    assert kept == [
        (1, ToolResult("a", "look", LOST_TEXT, "stopped")),
        (1, StateRecord("incident", {"lost": 1, "mended": 0})),
    ]
    assert [message["role"] for message in history.messages()] == ["user", "assistant", "tool"]


def test_leaving_turns_out_keeps_what_was_told() -> None:
    history = History(lambda turn, *records: None)
    for turn in (1, 2, 3):
        history.turn = turn
        if turn == 1:
            history.append(Context("the place", {"place": "the place"}))
        history.append(User(f"turn {turn}"))
    history.append(StateRecord("left_out_before", 3))
    contents = [message["content"] for message in history.messages()]
    assert "turns before number 3" in contents[0]
    assert contents[1:] == ["the place", "turn 3"]
    assert history.context_sent == {"place": "the place"}


def test_turns_are_left_out_whole_and_far_below_the_limit() -> None:
    sizes = [(turn, 100) for turn in range(1, 11)]
    assert first_turn_kept(sizes, used=900, limit=1_000) is None
    assert first_turn_kept(sizes, used=950, limit=1_000) == 6
    assert first_turn_kept([(1, 5_000)], used=5_000, limit=1_000) is None
    assert first_turn_kept([(1, 10), (2, 5_000)], used=5_010, limit=1_000) == 2


def test_going_back_leaves_settings_and_what_is_still_to_be_done() -> None:
    history = History(lambda turn, *records: None)
    lasting = {
        "mode": "think", "model": "other", "approval": "ask", "queue": ["later"], "sent": ["id"],
    }  # fmt: skip
    history.turn = 1
    history.append(User("one"))
    history.append(StateRecord("focus", ["a"]))
    history.turn = 2
    history.append(User("two"))
    history.append(StateRecord("focus", ["b"]))
    for name, value in lasting.items():
        history.append(StateRecord(name, value))
    history.rewind(2, 1)
    assert history.state == {"focus": ["a"], **lasting}
    assert history.turns == [1]
    assert history.was_rewound(1)
    assert not history.was_rewound(2)
    history.undo_rewind(1)
    assert history.state == {"focus": ["b"], **lasting}
    assert history.turns == [1, 2]
