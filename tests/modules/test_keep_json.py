"""The conversation stands whole in a JSON file when a turn is seen to end, and can come back."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tests.assembly
from core.events import Event, TurnFinished, Warned
from core.loop.turn import drive
from modules.import_history.importer import import_history
from tests.assembly import SETTINGS, AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.text.codec import to_plain


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tests.assembly, "SETTINGS", replace(SETTINGS, keep_json=True))


def kept(env: AssembledTerminal) -> Any:
    return json.loads(env.data.conversation.read_text())


def test_all_messages_stand_there_before_the_end_of_the_turn_is_seen(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, call_reply("read_file", path="a"), text_reply("It says hi.")
    ) as env:
        (env.root / "a").write_text("hi")
        at_the_end: list[Any] = []

        def show(event: Event) -> None:
            if isinstance(event, TurnFinished):
                at_the_end.extend(kept(env))

        drive(env.terminal.run_line("读 a"), show)
        assert at_the_end == kept(env)
        roles = [message["role"] for message in at_the_end]
        assert roles == ["system", "user", "assistant", "tool", "assistant"]
        assert at_the_end[2]["tool_calls"][0]["type"] == "function"
        assert at_the_end[3]["name"] == "read_file"
        assert at_the_end[3]["tool_call_id"] == at_the_end[2]["tool_calls"][0]["id"]
        assert stat.S_IMODE(env.data.conversation.stat().st_mode) == 0o600
        (status,) = run_turn(env.terminal, "/status")
        assert str(env.data.conversation) in str(to_plain(status))


def test_it_comes_back_as_a_session_that_says_the_same(tmp_path: Path) -> None:
    replies = [
        call_reply("read_file", path="a"),
        text_reply("Fine."),
        text_reply("Not this."),
        text_reply("More."),
    ]
    with assembled_terminal(tmp_path, *replies) as env:
        (env.root / "a").write_text("hi")
        run_turn(env.terminal, "one")
        run_turn(env.terminal, "two")
        run_turn(env.terminal, "/rewind 2")
        run_turn(env.terminal, "three")
        said = [one for one in env.terminal.history.messages() if one["role"] != "system"]
        path = env.data.conversation
        done = import_history(path, env.store, model="m", redact=env.terminal.redact)
        run_turn(env.terminal, "/new")
        env.terminal.resume(done.session)
        assert [one for one in env.terminal.history.messages() if one["role"] != "system"] == said
    assert "two" not in [one["content"] for one in said]


def test_no_secret_is_in_it_even_one_that_became_one_later(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("ok"), text_reply("hm")) as env:
        run_turn(env.terminal, "it is hunter2-x9")
        (env.root / ".env").write_text("PASSWORD=hunter2-x9\n")
        run_turn(env.terminal, "/secrets")
        run_turn(env.terminal, "go on")
        assert kept(env)[1]["content"] == "it is «SECRET:PASSWORD»"


def test_what_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("One."), text_reply("Two.")) as env:
        env.data.conversation.mkdir()
        events = [*run_turn(env.terminal, "one"), *run_turn(env.terminal, "two")]
        told = [str(event.what) for event in events if isinstance(event, Warned)]
        assert told == [f"Cannot write {env.data.conversation}: Is a directory."]
