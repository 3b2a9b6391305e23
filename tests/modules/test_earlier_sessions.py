"""What was said in earlier sessions of the project is there for the model as for the person."""

from __future__ import annotations

import json
from pathlib import Path

from core.conversation.messages import ToolResult
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply


def results(env: AssembledTerminal) -> list[str]:
    records = [record for _, record in env.terminal.history.records]
    return [record.text for record in records if isinstance(record, ToolResult)]


def test_an_earlier_session_is_found_and_read(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("We take PostgreSQL for the orders.")) as env:
        run_turn(env.terminal, "Which database?\nFor orders.")
        earlier = env.terminal.session
    search = call_reply("search_text", id="s", pattern="postgresql", path="@sessions")
    listing = call_reply("read_file", id="l", path="@sessions")
    turns = call_reply("read_file", id="t", path=f"@sessions/{earlier}")
    turn = call_reply("read_file", id="u", path=f"@sessions/{earlier}/1")
    with assembled_terminal(tmp_path, search, listing, turns, turn, text_reply("ok")) as env:
        run_turn(env.terminal, "What did we decide yesterday?")
        found, listed, of_session, whole = results(env)
        assert f"@sessions/{earlier}/1 (" in found
        assert "PostgreSQL for the orders" in found
        assert f"@sessions/{earlier}: " in listed
        assert f"@sessions/{earlier}/1: Which database? For orders." in of_session
        assert "Onefold: We take PostgreSQL for the orders." in whole


def test_it_is_told_of_once_the_person_speaks_of_something_earlier(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("ok")) as env:
        run_turn(env.terminal, "hello")
    replies = [text_reply("ok")] * 3
    with assembled_terminal(tmp_path, *replies) as env:
        for said in ("make a file", "上次说的那个文件呢?", "did we agree on that?"):
            run_turn(env.terminal, said)
        told = [json.dumps(request).count("@sessions") > 0 for request in env.model.requests]
        assert told == [False, True, True]
        assert str(env.model.requests[-1]).count("Earlier sessions of this project") == 1


def test_a_first_session_has_none_earlier(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("ok")) as env:
        run_turn(env.terminal, "do it as yesterday")
        assert "@sessions" not in str(env.model.requests[0])


def test_what_was_kept_private_or_taken_back_is_not_found(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("ok"), text_reply("the badger word")) as env:
        env.terminal.runs_shell_escapes = True
        run_turn(env.terminal, "!!echo ferret")
        run_turn(env.terminal, "hello")
        run_turn(env.terminal, "say it")
        run_turn(env.terminal, "/rewind 3")
        earlier = env.terminal.session
    searches = [
        call_reply("search_text", id=word, pattern=word, path="@sessions")
        for word in ("ferret", "badger", "hello")
    ]
    missing = call_reply("read_file", id="m", path=f"@sessions/{earlier}/99")
    unknown = call_reply("read_file", id="n", path="@sessions/zzzz")
    with assembled_terminal(tmp_path, *searches, missing, unknown, text_reply("ok")) as env:
        run_turn(env.terminal, "look")
        ferret, badger, hello, of_turn, of_session = results(env)
        assert "Nothing in earlier sessions" in ferret
        assert "Nothing in earlier sessions" in badger
        assert f"@sessions/{earlier}/" in hello
        assert "is no turn" in of_turn
        assert "zzzz" in of_session
