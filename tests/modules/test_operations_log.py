"""The operations log tells all that happens, no secret, and stops nothing."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

import tests.assembly
from core.events import Reply, TurnFinished, Warned
from modules import operations_log
from modules.cli.follow_log import readable
from modules.translator import Translator
from tests.assembly import SETTINGS, House, house
from tests.scripted import call, run, say
from utils.i18n import phrase
from utils.text.codec import to_plain

Line = dict[str, Any]


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**vars(SETTINGS), "operations_log": True}
    settings["known_secrets"] = {"API_KEY": "sk-very-secret-key"}
    monkeypatch.setattr(tests.assembly, "SETTINGS", type(SETTINGS)(**settings))


def lines(here: House) -> list[Line]:
    return [json.loads(line) for line in here.data.operations.read_text().splitlines()]


def test_every_request_call_question_answer_and_change_is_told_in_order(tmp_path: Path) -> None:
    script = [call("create_file", path="a.txt", content="hi"), call("delete_file", path="a.txt")]
    with house(tmp_path, *script, say("Gone."), approval_mode="ask") as here:
        run(here.main, "make and delete", Reply(yes=True))
        run(here.main, "/undo turn 1")
        told = lines(here)
        session = here.main.session
    assert [line["kind"] for line in told] == [
        "turn",
        *("request", "reply", "call", "question", "approval", "answer", "change"),
        *("request", "reply", "call", "question", "approval", "answer", "change"),
        *("request", "reply", "end", "command"),
    ]  # fmt: skip
    assert {line["session"] for line in told} == {session}
    assert told[0]["text"] == "make and delete"
    assert (told[1]["model"], told[1]["messages"]) == ("scripted", 3)
    assert told[1]["told"][0] == "You are a test."
    assert told[2]["calls"][0]["name"] == "create_file"
    assert told[3]["arguments"] == {"path": "a.txt", "content": "hi"}
    assert (told[5]["yes"], told[5]["answered"]) == (True, True)
    assert (told[6]["state"], "a.txt" in told[6]["text"]) == ("done", True)
    assert (told[7]["change"], told[7]["path"]) == ("created", "a.txt")
    assert told[8]["told"] == []
    assert (told[-3]["text"], told[-2]["why"]) == ("Gone.", "done")
    assert told[-1]["command"] == "/undo"


def test_remarks_and_what_is_left_to_do_are_told(tmp_path: Path) -> None:
    todos = [{"title": "Look", "status": "pending"}]
    as_text = '{"name": "list_files", "arguments": {}}'
    script = [call("update_todos", todos=todos), say(as_text), say("Later.")]
    with house(tmp_path, *script) as here:
        run(here.main, "go")
        told = lines(here)
        shown = [readable(json.dumps(line).encode(), Translator.of("en")) for line in told]
    (remark,) = [line["what"] for line in told if line["kind"] == "info"]
    assert remark == "The model wrote its call of list_files as text."
    assert told[-1]["still_open"] == "Still to do: Look"
    assert shown[-1].endswith("Still to do: Look")
    assert any(line.endswith(remark) for line in shown)


def test_no_reply_is_told_as_none(tmp_path: Path) -> None:
    with house(tmp_path, call("delete_file", path="a"), say("ok"), approval_mode="ask") as here:
        (here.root / "a").write_text("x")
        run(here.main, "delete")
        approval = next(line for line in lines(here) if line["kind"] == "approval")
    assert (approval["yes"], approval["answered"]) == (False, False)


def test_no_secret_gets_into_it_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    script = [call("read_file", path="b.txt"), call("create_file", path="c", content="hunter2-x9")]
    with house(tmp_path, *script, say("sk-very-secret-key")) as here:
        (here.root / ".env").write_text("PASSWORD=hunter2-x9\n")
        (here.root / "b.txt").write_text("hunter2-x9 ghp_0123456789abcdefghij sk-very-secret-key")
        run(here.main, "say hunter2-x9")
        run(here.main, "/secrets off")
        here.model.replies = [say("sk-very-secret-key")]
        run(here.main, "my token is sk-very-secret-key")
        text = here.data.operations.read_text()
        mode = stat.S_IMODE(here.data.operations.stat().st_mode)
    assert "hunter2-x9" not in text
    assert "very-secret" not in text
    assert "0123456789abcdefghij" not in text
    assert mode == 0o600


def test_a_disk_that_takes_nothing_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    script = [call("create_file", path="a", content="x"), say("Done."), say("Again.")]
    with house(tmp_path, *script) as here:
        here.data.operations.mkdir()
        events = [*run(here.main, "one"), *run(here.main, "two")]
        assert (here.root / "a").read_text() == "x"
        warned = [str(event.what) for event in events if isinstance(event, Warned)]
        assert warned == [
            f"The operations log {here.data.operations} cannot be written: Is a directory."
        ]
        assert [e.why for e in events if isinstance(e, TurnFinished)] == ["done", "done"]
        here.data.operations.rmdir()
        here.model.replies = [say("Three.")]
        run(here.main, "three")
        assert lines(here)[0]["text"] == "three"


def test_long_texts_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations_log, "LONGEST", 100)
    with house(tmp_path, say("x" * 1_000)) as here:
        run(here.main, "go")
        reply = next(line for line in lines(here) if line["kind"] == "reply")
    assert reply["text"] == "x" * 100 + "…"


def test_the_status_says_where_it_is_or_that_it_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with house(tmp_path) as here:
        (answer,) = run(here.main, "/status")
        assert str(here.data.operations) in str(to_plain(answer))
    monkeypatch.setattr(tests.assembly, "SETTINGS", SETTINGS)
    with house(tmp_path / "data", say("ok")) as here:
        (answer,) = run(here.main, "/status")
        assert "off; --log switches it on" in str(to_plain(answer))
        run(here.main, "hi")
        assert here.main.observer is None
        assert not here.data.operations.exists()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_line_can_be_read_by_a_person(tmp_path: Path, language: Any) -> None:
    words = Translator.of(language)
    script = [
        call("create_file", path="a.txt", content="\x1b[2Jhi\nthere"),
        call("rename_file", path="a.txt", new_path="b.txt"),
        call("delete_file", path="b.txt"),
        call("nothing"),
        say("Gone.", thinking="Hm."),
    ]
    with house(tmp_path, *script, approval_mode="ask", mode="think") as here:
        run(here.main, "go", Reply(yes=True))
        run(here.main, "/undo turn 1")
        raw = here.data.operations.read_bytes().splitlines()
    told = [readable(line, words) for line in raw]
    assert all("\x1b" not in line and "\n" not in line for line in told)
    unreadable = words.say(phrase("(a line that cannot be read)"))
    assert unreadable not in told
    text = "\n".join(told)
    for part in ("create_file path=a.txt, content=hi there", "a.txt → b.txt", "← Gone.", "■ done"):
        assert part in text
    for broken in (b"", b"{", b"[]", b'{"kind": "turn"}', b"\xff", b"[" * 100_000):
        assert readable(broken, words) == unreadable


def test_a_new_session_tells_its_instructions_again(tmp_path: Path) -> None:
    with house(tmp_path, say("One."), say("Two.")) as here:
        run(here.main, "one")
        first = here.main.session
        run(here.main, "/new")
        run(here.main, "two")
        turns = [line for line in lines(here) if line["kind"] == "turn"]
        assert [line["session"] for line in turns] == [first, here.main.session]
        requests = [line for line in lines(here) if line["kind"] == "request"]
        assert all(line["told"][0] == "You are a test." for line in requests)
