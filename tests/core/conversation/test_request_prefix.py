"""Each request begins with the one before; where not, Onefold keeps why, and what it costs."""

from __future__ import annotations

from typing import Any

from core.conversation.messages import StateRecord
from core.main_terminal import MainTerminal
from tests.core.loop.test_turn import Box
from tests.noting.request_order import watch_requests
from tests.scripted_model import call_reply, run_turn, terminal, text_reply
from utils.llm.completion import Completion, Usage

LONG = "word " * 400


def with_usage(text: str, tokens: int) -> Any:
    return [Completion(text, "", (), Usage(tokens, 0, tokens, 10, 0, 1, 0.0))]


def breaks(main: MainTerminal) -> list[dict[str, Any]]:
    records = [record for _, record in main.history.log if isinstance(record, StateRecord)]
    return [record.value for record in records if record.name == "prefix_break"]


def reasons(main: MainTerminal) -> list[str]:
    assert all(one["tokens"] > 0 for one in breaks(main))
    return [one["reason"] for one in breaks(main)]


def test_what_only_grows_breaks_with_nothing() -> None:
    main = terminal(call_reply("look", at="a"), text_reply("done"), text_reply("again"),
                    features=[Box()])  # fmt: skip
    run_turn(main, "one")
    run_turn(main, "two")
    assert breaks(main) == []


def test_another_model_and_another_list_of_tools_cost_all_of_it() -> None:
    main = terminal(*[text_reply("ok")] * 3, features=[Box()])
    run_turn(main, "one")
    main.model.model = "another"
    run_turn(main, LONG)
    main.tools.wire.pop()
    run_turn(main, "three")
    assert reasons(main) == ["model", "tools"]
    assert breaks(main)[1]["tokens"] > 200


def test_a_summary_turns_left_out_and_a_rewinding_are_named() -> None:
    main = terminal(
        with_usage(LONG, 3_000), with_usage(LONG, 8_600), text_reply("- a summary"),
        text_reply("done"), text_reply("after"), text_reply("more"), features=[Box()],
        context_limit=10_000, summary_prompt="Sum up.",
    )  # fmt: skip
    for line in ("one", "two", "three"):
        run_turn(main, line)
    assert reasons(main) == ["compaction"]
    main.rewind(3, 1)
    run_turn(main, "other")
    main.record(StateRecord("left_out_before", main.history.turn))
    run_turn(main, "last")
    assert reasons(main) == ["compaction", "rewind", "left_out"]


def test_answers_that_are_cut_are_named() -> None:
    box = Box()
    main = terminal(*[call_reply("look", id=f"c{n}", at=LONG) for n in range(3)],
                    text_reply("done"), text_reply("more"), features=[box])  # fmt: skip
    run_turn(main, "look")
    main.record(StateRecord("shortened", 2))
    run_turn(main, "more")
    assert reasons(main) == ["results_cut"]


def test_a_new_session_breaks_with_nothing() -> None:
    main = terminal(text_reply("a"), text_reply("b"))
    run_turn(main, "one")
    run_turn(main, "/new")
    run_turn(main, "two")
    assert breaks(main) == []


def test_the_same_said_again_after_a_rewinding_costs_nothing() -> None:
    main = terminal(text_reply("a"), call_reply("look", at="a"), text_reply("b"), text_reply("c"),
                    features=[Box()])  # fmt: skip
    run_turn(main, "one")
    run_turn(main, "two")
    main.rewind(2, 1)
    run_turn(main, "two")
    assert breaks(main) == []


class Watched(MainTerminal):
    """A terminal with a watch of its own, which leaves nothing to see for the one of all tests."""


def test_the_watch_of_all_tests_sees_a_request_that_was_edited() -> None:
    errors: list[str] = []
    watch_requests(Watched, errors.append)
    main = terminal(text_reply("a"), text_reply("b"), text_reply("c"))
    main.__class__ = Watched
    run_turn(main, "one")
    run_turn(main, "two")
    assert errors == []
    main.history._messages[1] = {"role": "user", "content": "edited"}
    run_turn(main, "three")
    assert len(errors) == 1
    assert "'reason': ''" in errors[0]
