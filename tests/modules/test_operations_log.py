"""The operations log tells all that happens, no secret, and stops nothing."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tests.assembly
from core.events import ApprovalAsked, Reply, TurnFinished, Warned
from modules import operations_log
from modules.cli.follow_log import readable
from modules.translator import Translator
from tests.assembly import SETTINGS, AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import phrase
from utils.text.codec import to_plain

Line = dict[str, Any]


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"API_KEY": "sk-very-secret-key"}
    settings = replace(SETTINGS, operations_log=True, known_secrets=secrets)
    monkeypatch.setattr(tests.assembly, "SETTINGS", settings)


def lines(env: AssembledTerminal) -> list[Line]:
    return [json.loads(line) for line in env.data.operations.read_text().splitlines()]


def test_every_request_call_question_answer_and_change_is_told_in_order(tmp_path: Path) -> None:
    script = [
        call_reply("create_file", path="a.txt", content="hi"),
        call_reply("delete_file", path="a.txt"),
    ]
    with assembled_terminal(tmp_path, *script, text_reply("Gone."), approval_mode="ask") as env:
        run_turn(env.terminal, "make and delete", Reply(yes=True))
        run_turn(env.terminal, "/undo turn 1")
        told = lines(env)
        session = env.terminal.session
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
    later = [text_reply("Later."), text_reply("Later.")]
    script = [call_reply("update_todos", todos=todos), text_reply(as_text), *later]
    with assembled_terminal(tmp_path, *script) as env:
        run_turn(env.terminal, "go")
        told = lines(env)
        shown = [readable(json.dumps(line).encode(), Translator.of("en")) for line in told]
    remark, asked = [line["what"] for line in told if line["kind"] == "info"]
    assert remark == "The model wrote its call of list_files as text."
    assert asked == "The model stopped with open todos. Asking whether it is done."
    assert told[-1]["still_open"] == "Still to do: Look"
    assert shown[-1].endswith("Still to do: Look")
    assert any(line.endswith(remark) for line in shown)


def test_no_reply_is_told_as_none(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, call_reply("delete_file", path="a"), text_reply("ok"), approval_mode="ask"
    ) as env:
        (env.root / "a").write_text("x")
        run_turn(env.terminal, "delete")
        approval = next(line for line in lines(env) if line["kind"] == "approval")
    assert (approval["yes"], approval["answered"]) == (False, False)


def test_a_reply_that_was_given_elsewhere_is_told_as_what_it_was(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, call_reply("delete_file", path="a"), text_reply("ok"), approval_mode="ask"
    ) as env:
        (env.root / "a").write_text("x")
        question = env.terminal.question
        question.take_answers()
        for event in env.terminal.run_line("delete"):
            if isinstance(event, ApprovalAsked) and (now := question.now()):
                assert question.answer(now.key, Reply(yes=True))
        approval = next(line for line in lines(env) if line["kind"] == "approval")
        assert not (env.root / "a").exists()
    assert (approval["yes"], approval["answered"]) == (True, True)


def test_no_secret_gets_into_it_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    script = [
        call_reply("read_file", path="b.txt"),
        call_reply("create_file", path="c", content="hunter2-x9"),
    ]
    with assembled_terminal(tmp_path, *script, text_reply("sk-very-secret-key")) as env:
        (env.root / ".env").write_text("PASSWORD=hunter2-x9\n")
        (env.root / "b.txt").write_text("hunter2-x9 ghp_0123456789abcdefghij sk-very-secret-key")
        run_turn(env.terminal, "say hunter2-x9")
        run_turn(env.terminal, "/secrets off")
        env.model.replies = [text_reply("sk-very-secret-key")]
        run_turn(env.terminal, "my token is sk-very-secret-key")
        text = env.data.operations.read_text()
        mode = stat.S_IMODE(env.data.operations.stat().st_mode)
    assert "hunter2-x9" not in text
    assert "very-secret" not in text
    assert "0123456789abcdefghij" not in text
    assert mode == 0o600


def test_a_disk_that_takes_nothing_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    script = [
        call_reply("create_file", path="a", content="x"),
        text_reply("Done."),
        text_reply("Again."),
    ]
    with assembled_terminal(tmp_path, *script) as env:
        env.data.operations.mkdir()
        events = [*run_turn(env.terminal, "one"), *run_turn(env.terminal, "two")]
        assert (env.root / "a").read_text() == "x"
        warned = [str(event.what) for event in events if isinstance(event, Warned)]
        assert warned == [f"Cannot write the operations log {env.data.operations}: Is a directory."]
        assert [e.why for e in events if isinstance(e, TurnFinished)] == ["done", "done"]
        env.data.operations.rmdir()
        env.model.replies = [text_reply("Three.")]
        run_turn(env.terminal, "three")
        assert lines(env)[0]["text"] == "three"


def test_long_texts_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations_log, "MAX_TEXT", 100)
    with assembled_terminal(tmp_path, text_reply("x" * 1_000)) as env:
        run_turn(env.terminal, "go")
        reply = next(line for line in lines(env) if line["kind"] == "reply")
    assert reply["text"] == "x" * 100 + "…"


def test_the_status_says_where_it_is_or_that_it_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with assembled_terminal(tmp_path) as env:
        (answer,) = run_turn(env.terminal, "/status")
        assert str(env.data.operations) in str(to_plain(answer))
    monkeypatch.setattr(tests.assembly, "SETTINGS", SETTINGS)
    with assembled_terminal(tmp_path / "data", text_reply("ok")) as env:
        (answer,) = run_turn(env.terminal, "/status")
        assert "off; --log turns it on" in str(to_plain(answer))
        run_turn(env.terminal, "hi")
        assert env.terminal.observer is None
        assert not env.data.operations.exists()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_line_can_be_read_by_a_person(tmp_path: Path, language: Any) -> None:
    words = Translator.of(language)
    script = [
        call_reply("create_file", path="a.txt", content="\x1b[2Jhi\nthere"),
        call_reply("rename_file", path="a.txt", new_path="b.txt"),
        call_reply("delete_file", path="b.txt"),
        call_reply("nothing"),
        text_reply("Gone.", thinking="Hm."),
    ]
    with assembled_terminal(tmp_path, *script, approval_mode="ask", mode="think") as env:
        run_turn(env.terminal, "go", Reply(yes=True))
        run_turn(env.terminal, "/undo turn 1")
        raw = env.data.operations.read_bytes().splitlines()
    told = [readable(line, words) for line in raw]
    assert all("\x1b" not in line and "\n" not in line for line in told)
    unreadable = words.render(phrase("(unreadable line)"))
    assert unreadable not in told
    text = "\n".join(told)
    for part in ("create_file path=a.txt, content=hi there", "a.txt → b.txt", "← Gone.", "■ done"):
        assert part in text
    for broken in (b"", b"{", b"[]", b'{"kind": "turn"}', b"\xff", b"[" * 100_000):
        assert readable(broken, words) == unreadable


def test_a_new_session_tells_its_instructions_again(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("One."), text_reply("Two.")) as env:
        run_turn(env.terminal, "one")
        first = env.terminal.session
        run_turn(env.terminal, "/new")
        run_turn(env.terminal, "two")
        turns = [line for line in lines(env) if line["kind"] == "turn"]
        assert [line["session"] for line in turns] == [first, env.terminal.session]
        requests = [line for line in lines(env) if line["kind"] == "request"]
        assert all(line["told"][0] == "You are a test." for line in requests)
