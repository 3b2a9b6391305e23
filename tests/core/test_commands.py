from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.events import CommandAnswered, Event
from tests.assembly import assembled_terminal
from tests.core.loop.test_turn import Box
from tests.scripted_model import calls_reply, run_turn, terminal, text_reply
from utils.i18n import phrase
from utils.llm.completion import Completion, Usage
from utils.llm.profiles.server_profile import ServerProfile


def only(events: list[Event]) -> CommandAnswered:
    (event,) = events
    assert isinstance(event, CommandAnswered)
    return event


@pytest.mark.parametrize("line", ["/statsu", "/STATUS"])
def test_an_unknown_command_names_the_nearest(line: str) -> None:
    answer = only(run_turn(terminal(), line))
    assert not answer.ok
    assert isinstance(answer.card, TextCard)
    assert "/status" in str(answer.card.title)


def test_an_unknown_command_that_is_near_to_none_names_none() -> None:
    answer = only(run_turn(terminal(), "/nonsense"))
    assert isinstance(answer.card, TextCard)
    assert str(answer.card.title) == "Unknown command /nonsense. /help lists all commands."


def test_the_history_names_calls_beside_the_words_that_came_with_them() -> None:
    main = terminal(
        calls_reply(("c1", "look", "{}"), text="I look."), text_reply("Seen."), features=[Box()]
    )
    run_turn(main, "look")
    card = only(run_turn(main, "/history")).card
    assert isinstance(card, TableCard)
    assert [row[2] for row in card.rows] == ["look", "I look. → look", "Seen."]


def test_a_search_says_what_was_searched_for() -> None:
    main = terminal(text_reply("There is a needle."))
    run_turn(main, "what is there?")
    card = only(run_turn(main, "/search needle")).card
    assert isinstance(card, TableCard)
    assert str(card.title) == "Sessions that contain “needle”: 0"


def test_status_names_what_the_contract_names() -> None:
    main = terminal(text_reply("hi"), features=[Box()])
    run_turn(main, "hello")
    card = only(run_turn(main, "/status")).card
    assert isinstance(card, TableCard)
    labels = [str(row[0]) for row in card.rows]
    for label in ("Model", "Mode", "Session", "Steps", "Context", "Tokens", "Cache hits", "Cost",
                  "Approval"):  # fmt: skip
        assert label in labels


def test_the_parts_of_the_context_add_up_to_it() -> None:
    main = terminal(text_reply("hi"), features=[Box()])
    assert sum(main.tokens_by_part().values()) == main.window.used
    run_turn(main, "hello " * 50)
    assert sum(main.tokens_by_part().values()) == main.window.used


@pytest.mark.parametrize("requests", [1, 2, 3])
def test_a_reply_that_was_asked_for_again_fills_the_context_once(requests: int) -> None:
    """It is billed once a request; the next one holds it once."""
    spent = sum([Usage(1000, 0, 1000, 20, 0, 1, 0.0)] * requests, Usage())
    main = terminal([Completion("hi", "", (), spent)])
    run_turn(main, "hello")
    assert main.window.used == 1020
    assert main.usage.prompt_tokens == 1000 * requests


@pytest.mark.parametrize(("line", "mode"), [("/think", "think"), ("/fast", "fast")])
def test_the_mode_is_switched(line: str, mode: str) -> None:
    main = terminal()
    run_turn(main, line)
    assert main.mode == mode


def test_a_new_session_stays_in_the_mode() -> None:
    main = terminal(text_reply("a"), text_reply("b"))
    run_turn(main, "/think")
    run_turn(main, "one")
    run_turn(main, "/new")
    assert main.mode == "think"


def test_approve_takes_only_the_modes_there_are() -> None:
    main = terminal()
    assert not only(run_turn(main, "/approve maybe")).ok
    assert only(run_turn(main, "/approve read-only")).ok
    card = only(run_turn(main, "/approve")).card
    assert isinstance(card, TextCard)
    assert str(card.title) == "Approval mode: read-only."


@pytest.mark.parametrize(
    ("said", "starts_with", "holds"),
    [
        ("read-only", "guarded", "read-only"),
        ("ask", "all", "ask"),
        ("guarded", "ask", "ask"),
        ("all", "guarded", "guarded"),
    ],
)
def test_a_session_is_never_opened_up_by_a_new_start(
    said: str, starts_with: Any, holds: str
) -> None:
    main = terminal(text_reply("a"), approval_mode="guarded" if said != "guarded" else "ask")
    run_turn(main, f"/approve {said}")
    run_turn(main, "one")
    again = terminal(text_reply("b"), store=main.store, approval_mode=starts_with)
    again.resume()
    assert again.approval.mode == holds
    run_turn(again, "/approve guarded")
    last = terminal(store=main.store)
    last.resume()
    assert last.approval.mode == "guarded"


def test_what_is_always_allowed_has_rows_of_its_own_in_the_status() -> None:
    main = terminal()
    main.approval.allow_always("run_command git *")
    card = only(run_turn(main, "/status")).card
    assert isinstance(card, TableCard)
    rows = [tuple(map(str, row)) for row in card.rows]
    assert ("Approval", "guarded") in rows
    assert ("Always allowed", "run_command git *") in rows


def test_commands_need_no_session_and_make_none() -> None:
    main = terminal()
    for line in ("/help", "/status", "/cost", "/history", "/sessions", "/new", "/clear"):
        assert only(run_turn(main, line)).ok, line
    assert main.session == ""


@pytest.mark.parametrize(
    ("line", "effect"),
    [
        ("/cls", "clear"),
        ("/exit", "exit"),
        ("/quit", "exit"),
        ("/clear", "session"),
        ("/new", "session"),
    ],
)
def test_what_a_screen_must_do_itself_is_an_effect(line: str, effect: str) -> None:
    assert only(run_turn(terminal(), line)).effect == effect


def test_history_shows_the_turns() -> None:
    main = terminal(text_reply("hello you"))
    run_turn(main, "hi there")
    card = only(run_turn(main, "/history")).card
    assert isinstance(card, TableCard)
    assert [(row[0], row[2]) for row in card.rows] == [("1", "hi there"), ("1", "hello you")]


def title(events: list[Event]) -> str:
    card = only(events).card
    assert isinstance(card, TextCard)
    return str(card.title)


def test_what_was_learnt_of_a_server_is_shown_and_forgotten() -> None:
    main = terminal()
    main.model.profile = ServerProfile(thinking=False, window=8192)  # type: ignore[misc]
    card = only(run_turn(main, "/model")).card
    assert isinstance(card, TextCard)
    assert str(card.body).endswith("thinking=no, window=8192")
    card = only(run_turn(main, "/model forget")).card
    assert card == TextCard(phrase("Model: {name}.", name="scripted"))
    assert main.model.profile == ServerProfile()


def test_the_models_that_can_be_had_are_listed() -> None:
    main = terminal()
    main.model.models = lambda name="": ["scripted", "anthropic/claude-x"]  # type: ignore[method-assign]
    title = phrase("Model: {name}.", name="scripted")
    how = phrase("/model NAME changes it.")
    rows = (("scripted *",), ("anthropic/claude-x",), (how,))
    assert only(run_turn(main, "/model")).card == TableCard(title, rows)


def test_what_a_server_takes_can_be_said() -> None:
    main = terminal()
    assert only(run_turn(main, "/model set window=8192 thinking=no call_ids=short")).ok
    said = ServerProfile(window=8192, thinking=False, call_ids="short")
    assert main.model.profile == said
    for wrong, why in [
        ("windw=1", "windw is none of thinking"),
        ("window=many", "window cannot be 'many'"),
        ("thinking=maybe", "thinking cannot be 'maybe'"),
        ("window", "window is not FIELD=VALUE"),
        ("changes=", "changes is none of"),
        ("window=9 call_ids=long", "call_ids cannot be 'long'"),
    ]:
        answer = run_turn(main, f"/model set {wrong}")
        assert not only(answer).ok
        assert why in title(answer)
        assert main.model.profile == said
    assert only(run_turn(main, "/model set window= thinking= call_ids=")).ok
    assert main.model.profile == ServerProfile()


def test_a_model_that_the_server_does_not_list_is_refused_and_the_nearest_named() -> None:
    main = terminal()
    assert only(run_turn(main, "/model whatever")).ok  # the server says nothing of its models
    main.model.models = lambda name="": ["deepseek-flash", "deepseek-v4-pro"]  # type: ignore[method-assign]
    assert only(run_turn(main, "/model deepseek-v4-pro")).ok
    answer = run_turn(main, "/model deepseek-flush")
    assert not only(answer).ok
    assert title(answer) == (
        "The server has no model deepseek-flush. Available: deepseek-flash, deepseek-v4-pro. "
        "Did you mean deepseek-flash?"
    )
    assert main.model.model == "deepseek-v4-pro"


def test_resume_without_an_id_offers_sessions_and_takes_a_number() -> None:
    main = terminal(text_reply("one"), text_reply("two"), text_reply("three"))
    for text in ("first", "second", "third"):
        run_turn(main, text)
        if text != "third":
            run_turn(main, "/new")
    main.offers_sessions = True
    card = only(run_turn(main, "/resume")).card
    assert isinstance(card, TableCard)
    assert [row[0] for row in card.rows] == ["1", "2"]
    assert main.session not in [row[4] for row in card.rows]
    assert title(run_turn(main, "/resume 3")) == "Enter a number from 1 to 2: /resume 1"
    assert only(run_turn(main, "/resume 2")).ok
    assert main.session == card.rows[1][4]


def test_resume_without_an_id_takes_the_newest_where_nobody_chooses() -> None:
    main = terminal(text_reply("one"))
    run_turn(main, "first")
    session = main.session
    run_turn(main, "/new")
    assert only(run_turn(main, "/resume")).ok
    assert main.session == session


def test_an_argument_that_is_wrong_names_the_nearest_of_its_kind(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one")) as made:
        (made.root / "src").mkdir()
        (made.root / "src" / "parser.py").write_text("x")
        made.terminal.list_paths = lambda: ["src/parser.py"]
        run_turn(made.terminal, "begin")
        end = made.terminal.session.rpartition("-")[2]
        wrong = f"{end[:3]}{'0' if end[3] != '0' else '1'}"
        assert title(run_turn(made.terminal, "/approve gaurded")).endswith("Did you mean guarded?")
        assert title(run_turn(made.terminal, "/focus parsr.py")).endswith(
            "Did you mean src/parser.py?"
        )
        assert title(run_turn(made.terminal, "/note parsr.py hi")).endswith(
            "Did you mean src/parser.py?"
        )
        assert title(run_turn(made.terminal, f"/resume {wrong}")).endswith(f"Did you mean {end}?")
        assert "Did you mean" not in title(run_turn(made.terminal, "/focus nothing-like-it.zip"))
        assert "Did you mean" not in title(run_turn(made.terminal, "/unfocus ./src/parser.py"))
        assert "Did you mean" not in title(run_turn(made.terminal, "/note src/parser.py:9-3 hi"))


def test_thinking_that_a_session_began_with_goes_on_with_it(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one"), mode="think") as made:
        run_turn(made.terminal, "begin")
    with assembled_terminal(tmp_path, mode="fast") as made:
        made.terminal.resume()
        assert made.terminal.mode == "think"


def test_the_approval_that_a_session_began_with_goes_on_with_it(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("one"), approval_mode="ask") as made:
        run_turn(made.terminal, "begin")
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume()
        assert made.terminal.approval.mode == "ask"
