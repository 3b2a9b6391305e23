"""Mentions of a message: what is read of the project before the model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.conversation.messages import Assistant, ToolResult
from core.events import ToolFinished, Warned
from core.loop.turn import drive
from modules.mentions.feature import Mentions
from tests.assembly import assembled_terminal
from tests.scripted_model import ScriptedModel, text_reply

SOURCE = """import os


class Door:
    @property
    def colour(self) -> str:
        return "green"


def paint(door: Door) -> None:
    print(door.colour)
"""
SCRIPT = """export const sweep = (yard) => {
  return yard;
};

class Roof {
  mend() {}
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "项目 one"
    (root / "src").mkdir(parents=True)
    (root / "src" / "door.py").write_text(SOURCE)
    (root / "src" / "yard.js").write_text(SCRIPT)
    (root / "my notes.txt").write_text("first\nsecond\n三\n", encoding="utf-8")
    return root


def said(base: Path, root: Path, text: str) -> tuple[list[str], list[str]]:
    """Say *text*; return what the model reads of the calls, and the warnings."""
    warned: list[str] = []

    def show(event: object) -> None:
        if isinstance(event, Warned):
            warned.append(str(event.what))

    model = ScriptedModel(text_reply("Done."))
    with assembled_terminal(base, root=root, model=model) as opened:
        drive(opened.terminal.run_line(text), show)
    [request] = model.requests
    return [message["content"] for message in request if message["role"] == "tool"], warned


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("explain @src/door.py", ["door.colour"]),
        ('explain @"my notes.txt", please', ["三"]),
        ("what of (@src/door.py)?", ["door.colour"]),
        ("lines @src/door.py:4-5.", ["4│class Door:"]),
        ("what is in @src", ["yard.js"]),
        ("explain @paint", ["10│def paint"]),
        ("explain @Door.colour()", ["5│    @property"]),
        ("explain @sweep and @Roof", ["3│};", "5│class Roof {"]),
        ("@src/door.py twice: @src/door.py", ["door.colour"]),
    ],
)
def test_what_is_named_is_read_once(
    tmp_path: Path, project: Path, text: str, read: list[str]
) -> None:
    told, warned = said(tmp_path, project, text)
    assert len(told) == len(read)
    for content, words in zip(told, read, strict=True):
        assert words in content
    assert warned == []


@pytest.mark.parametrize(
    "text",
    [
        "ask @nobody about it",
        "write to me@src.org",
        "@../outside.txt",
        "@/etc/passwd",
        "@~/.bashrc",
        "use\n```\n@paint\ndef x(): ...\n```",
        "no mention",
        "@",
    ],
)
def test_what_is_nothing_stays_text(tmp_path: Path, project: Path, text: str) -> None:
    (tmp_path / "outside.txt").write_text("x")
    told, warned = said(tmp_path, project, text)
    assert (told, warned) == ([], [])


def test_a_message_without_a_mention_asks_nothing_of_the_project(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Mentions, "calls_for", lambda _, text, __: asked.append(text))
    said(tmp_path, project, "go on")
    assert asked == []


def test_secrets_are_hidden_as_when_the_model_reads(tmp_path: Path, project: Path) -> None:
    (project / ".env").write_text("API_TOKEN=abcdef0123456789secretvalue\n")
    told, _ = said(tmp_path, project, "look at @.env")
    assert "API_TOKEN" in told[0]
    assert "abcdef0123456789secretvalue" not in told[0]


def test_a_page_is_not_read_where_no_page_can_be(tmp_path: Path, project: Path) -> None:
    told, warned = said(tmp_path, project, "read @https://example.org/a.")
    assert told == []
    [warning] = warned
    assert warning.startswith("https://example.org/a was not read.")


def test_a_long_file_is_bounded_and_its_cost_is_known_before(tmp_path: Path, project: Path) -> None:
    (project / "long.txt").write_text("a line of it\n" * 100_000)
    told, _ = said(tmp_path, project, "sum up @long.txt")
    assert len(told[0]) < 40_000
    with assembled_terminal(tmp_path, root=project) as opened:
        mentions = opened.terminal.features.find(Mentions)
        assert mentions is not None
        said_cost = str(mentions.cost("sum up @long.txt and @paint"))
        assert said_cost == "Adds @long.txt: about 9,697 tokens"
        assert str(mentions.cost("see @src")) == "Adds @src"
        assert mentions.cost("me@long.txt") == ""


def test_what_was_read_is_there_when_the_session_goes_on(tmp_path: Path, project: Path) -> None:
    said(tmp_path, project, "explain @src/door.py")
    model = ScriptedModel(text_reply("Again."))
    with assembled_terminal(tmp_path, root=project, model=model) as opened:
        terminal = opened.terminal
        terminal.resume("")
        shown: list[object] = []
        drive(terminal.run_line("and now?"), shown.append)
        [request] = model.requests
        assert [m["role"] for m in request].count("tool") == 1
        assert not any(isinstance(event, ToolFinished) for event in shown)
        kinds = [
            type(r) for _, r in terminal.history.records if isinstance(r, Assistant | ToolResult)
        ]
        assert kinds == [Assistant, ToolResult, Assistant, Assistant]
