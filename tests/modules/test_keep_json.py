"""The conversation stands whole in a JSON file when a turn is seen to end, and can come back."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

import tests.assembly
from core.events import Event, TurnFinished, Warned
from core.loop.turn import drive
from modules.import_history.importer import import_history
from tests.assembly import SETTINGS, House, house
from tests.scripted import call, run, say
from utils.text.codec import to_plain


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**vars(SETTINGS), "keep_json": True}
    monkeypatch.setattr(tests.assembly, "SETTINGS", type(SETTINGS)(**settings))


def kept(here: House) -> Any:
    return json.loads(here.data.conversation.read_text())


def test_all_messages_stand_there_before_the_end_of_the_turn_is_seen(tmp_path: Path) -> None:
    with house(tmp_path, call("read_file", path="a"), say("It says hi.")) as here:
        (here.root / "a").write_text("hi")
        at_the_end: list[Any] = []

        def show(event: Event) -> None:
            if isinstance(event, TurnFinished):
                at_the_end.extend(kept(here))

        drive(here.main.ask("读 a"), show)
        assert at_the_end == kept(here)
        roles = [message["role"] for message in at_the_end]
        assert roles == ["system", "user", "assistant", "tool", "assistant"]
        assert at_the_end[2]["tool_calls"][0]["type"] == "function"
        assert at_the_end[3]["name"] == "read_file"
        assert at_the_end[3]["tool_call_id"] == at_the_end[2]["tool_calls"][0]["id"]
        assert stat.S_IMODE(here.data.conversation.stat().st_mode) == 0o600
        (status,) = run(here.main, "/status")
        assert str(here.data.conversation) in str(to_plain(status))


def test_it_comes_back_as_a_session_that_says_the_same(tmp_path: Path) -> None:
    replies = [call("read_file", path="a"), say("Fine."), say("Not this."), say("More.")]
    with house(tmp_path, *replies) as here:
        (here.root / "a").write_text("hi")
        run(here.main, "one")
        run(here.main, "two")
        run(here.main, "/rewind 2")
        run(here.main, "three")
        said = [one for one in here.main.history.wire() if one["role"] != "system"]
        path = here.data.conversation
        done = import_history(path, here.store, model="m", blind=here.main.blind)
        run(here.main, "/new")
        here.main.resume(done.session)
        assert [one for one in here.main.history.wire() if one["role"] != "system"] == said
    assert "two" not in [one["content"] for one in said]


def test_no_secret_is_in_it_even_one_that_became_one_later(tmp_path: Path) -> None:
    with house(tmp_path, say("ok"), say("hm")) as here:
        run(here.main, "it is hunter2-x9")
        (here.root / ".env").write_text("PASSWORD=hunter2-x9\n")
        run(here.main, "/secrets")
        run(here.main, "go on")
        assert kept(here)[1]["content"] == "it is «SECRET:PASSWORD»"


def test_what_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    with house(tmp_path, say("One."), say("Two.")) as here:
        here.data.conversation.mkdir()
        events = [*run(here.main, "one"), *run(here.main, "two")]
        told = [str(event.what) for event in events if isinstance(event, Warned)]
        assert told == [f"{here.data.conversation} cannot be written: Is a directory."]
