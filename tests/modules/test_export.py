"""An exported session reads well and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cards import Change
from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    StateRecord,
    ToolCall,
    ToolResult,
    User,
)
from core.conversation.store import SessionInfo
from core.events import CommandAnswered
from modules.export import export, new_file, to_json, to_markdown
from tests.assembly import assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import UserError
from utils.pictures import Picture
from utils.text.codec import from_plain

INFO = SessionInfo("20261121-101530-7f3a", "修好它", "deepseek-flash", 1.0, 2.0, 1)
RECORDS: list[Record] = [
    User("修好它"),
    Context("Notes on files:\n- a: b", {"notes": "x"}),
    Assistant("", "Let me </details> think", (ToolCall("1", "read_file", '{"path":"文"}'),), 3.2),
    ToolResult("1", "read_file", "```python\nx = 1\n```"),
    StateRecord("focus", ["a"]),
    Assistant("Done: **x**."),
]


def test_the_transcript_shows_everything_in_order() -> None:
    text = to_markdown(RECORDS, INFO)
    parts = [
        "# 修好它\n\nSession `20261121-101530-7f3a`",
        "## You\n\n修好它",
        "<details><summary>Told to the model</summary>",
        "<details><summary>Thinking (3 s)</summary>\n\n```\nLet me </details> think\n```",
        '### `read_file`\n\n```json\n{\n  "path": "文"\n}\n```',
        "**read_file** done:\n\n````\n```python\nx = 1\n```\n````",
        "## Onefold\n\nDone: **x**.",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_the_json_holds_the_wire_history_and_every_record() -> None:
    plain = json.loads(json.dumps(to_json(RECORDS, INFO, system="You are.")))
    wire = [record.to_wire() for record in RECORDS if not isinstance(record, StateRecord)]
    assert plain["messages"] == [{"role": "system", "content": "You are."}, *wire]
    assert [from_plain(Record, record) for record in plain["records"]] == RECORDS
    assert (plain["session"], plain["model"]) == (INFO.id, "deepseek-flash")
    assert to_json(RECORDS, INFO)["messages"] == wire


def test_the_name_decides_the_form(tmp_path: Path) -> None:
    assert str(tmp_path / "a.md") in str(export(RECORDS, INFO, tmp_path / "a.md"))
    export(RECORDS, INFO, tmp_path / "a.JSON")
    assert (tmp_path / "a.md").read_text().startswith("# 修好它")
    assert json.loads((tmp_path / "a.JSON").read_text())["title"] == "修好它"
    with pytest.raises(UserError, match="from the browser"):
        export(RECORDS, INFO, tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()
    (tmp_path / "x").mkdir()
    assert str(tmp_path / "b.md") in str(export(RECORDS, INFO, tmp_path / "x" / ".." / "b.md"))


def test_text_that_is_no_utf8_is_exported_too(tmp_path: Path) -> None:
    records = [User("caf\udce9 \ud83d")]
    for name in ("a.md", "a.json"):
        export(records, INFO, tmp_path / name)
    assert (
        json.loads((tmp_path / "a.json").read_text())["messages"][0]["content"] == records[0].text
    )


def test_a_name_may_stand_in_quotes(tmp_path: Path) -> None:
    for name, path in {
        '"my talk.json"': "my talk.json",
        "'a'": "a",
        '"': '"',
        "it's": "it's",
    }.items():
        assert new_file(tmp_path, name) == tmp_path / path


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("mine")
    with pytest.raises(UserError, match="already exists"):
        export(RECORDS, INFO, tmp_path / "a.md")
    assert (tmp_path / "a.md").read_text() == "mine"


def test_a_file_that_cannot_be_written_is_said_and_none_is_left(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Cannot write .*: No such file or directory"):
        export(RECORDS, INFO, tmp_path / "none" / "a.md")
    with pytest.raises(UserError, match="already exists|Is a directory"):
        export(RECORDS, INFO, tmp_path)


@pytest.mark.parametrize("name", ["talk.md", "talk.json"])
def test_a_secret_that_was_learnt_after_it_was_said_is_hidden(tmp_path: Path, name: str) -> None:
    value = "ghp_0123456789abcdefghij"
    later = call_reply("create_file", path="a.txt", content="x")
    with assembled_terminal(tmp_path, text_reply("I keep it."), later, text_reply("Made.")) as made:
        run_turn(made.terminal, f"the token is {value}")
        (made.root / ".env").write_text(f"API_TOKEN={value}\n")
        run_turn(made.terminal, "make a.txt")
        run_turn(made.terminal, f"/export {name}")
        text = (made.root / name).read_text()
        assert value not in text
        assert text.count("«SECRET:API_TOKEN»") >= 1


def test_a_file_in_the_project_is_told_as_made(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("hello")) as made:
        run_turn(made.terminal, "hi")
        answers = [
            *run_turn(made.terminal, "/export 导出.md"),
            *run_turn(made.terminal, f"/export {tmp_path}/b.md"),
        ]
        assert [event.changes for event in answers if isinstance(event, CommandAnswered)] == [
            (Change("created", "导出.md"),),
            (),
        ]


def test_what_is_not_hidden_in_the_project_is_named_as_exported(tmp_path: Path) -> None:
    value = "sk-canary-0123456789abcdef"
    with assembled_terminal(tmp_path, text_reply("I keep it.")) as made:
        (made.root / ".env").write_text(f"API_TOKEN={value}\n")
        run_turn(made.terminal, "/secrets off")
        run_turn(made.terminal, f"the token is {value}")
        (answer,) = (
            e for e in run_turn(made.terminal, "/export a.md") if isinstance(e, CommandAnswered)
        )
        assert value in (made.root / "a.md").read_text()
        assert str(getattr(answer.card, "body", "")).endswith("It contains secrets: API_TOKEN")


def test_pictures_are_named_in_markdown_and_referred_to_in_json() -> None:
    picture = Picture("0" * 64, "a.png", "PNG", 8, 6, 99, "image/png")
    records = [User("See.", (picture,))]
    info = SessionInfo("s", "t", "m", 0.0, 0.0, 1)
    assert "## You\n\n*Picture: a.png, PNG, 8×6, 99 B*\n\nSee." in to_markdown(records, info)
    assert to_json(records, info)["messages"][0]["pictures"][0]["digest"] == "0" * 64
