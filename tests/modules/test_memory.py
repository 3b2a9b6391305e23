"""The memory is the person's own file: nothing enters unasked, no edit of theirs is lost."""

from __future__ import annotations

import json
import stat
from datetime import date
from pathlib import Path

import pytest

from core.cards import TableCard, TextCard
from core.events import CommandAnswered
from core.tools import Tool, ToolError
from modules.memory.memory_items import items_of
from modules.memory.task_memory import TaskMemory
from modules.memory_manager import Memory
from tests.assembly import assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile

TODAY = date(2026, 11, 23)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "MEMORY.md"


def open_memory(path: Path) -> Memory:
    task_memory = TaskMemory(path.with_name("WORKING.md"))
    files = (path.with_name("offers.json"), path.with_name("decisions.json"))
    return Memory(path, *files, task_memory, today=lambda: TODAY)


@pytest.fixture
def memory(path: Path) -> Memory:
    return open_memory(path)


def told(memory: Memory) -> str:
    (section,) = memory.context()
    assert section.name == "memory"
    return section.text


def shown(memory: Memory) -> dict[str, str]:
    card = memory.show("")
    return {str(row[0]): str(row[1]) for row in card.rows} if isinstance(card, TableCard) else {}


def test_remembering_always_asks(memory: Memory) -> None:
    assert "every later session" in str(Tool.of(memory.remember).spec.always_ask)


def test_what_is_remembered_is_told_to_every_session(memory: Memory, path: Path) -> None:
    assert told(memory) == ""
    memory.remember("Tests run with\n  make check")
    memory.remember("tabs", category="preference")
    assert told(open_memory(path)) == (
        "Memory of earlier sessions, agreed with the person:\n"
        "## Facts\n- [2026-11-23] Tests run with make check\n"
        "## Preferences\n- [2026-11-23] tabs"
    )
    assert told(memory) == told(open_memory(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_remembered_twice_or_empty(memory: Memory) -> None:
    memory.remember_command("用中文回答")
    with pytest.raises(ToolError, match="already"):
        memory.remember("用中文回答")
    with pytest.raises(ToolError, match="empty"):
        memory.remember("  ")
    with pytest.raises(ToolError, match="Usage: /remember TEXT"):
        memory.remember_command("")


def test_an_id_stays_when_others_come_and_go(memory: Memory) -> None:
    for text in ("one", "two", "three"):
        memory.remember_command(text)
    ids = {text.split()[-1]: id_ for id_, text in shown(memory).items()}
    assert all(len(id_) == 4 for id_ in ids.values())
    assert memory.forget(ids["two"]) == TextCard(phrase("Forgotten"), "[2026-11-23] two")
    assert list(shown(memory)) == [ids["one"], ids["three"]]
    for wrong in ("zzzz", ids["two"]):
        with pytest.raises(ToolError, match="No memory"):
            memory.forget(wrong)
    with pytest.raises(ToolError, match="Usage: /forget ID"):
        memory.forget("")


HAND = (
    "\ufeffMy notes\r\n\r\n* first\r\n  goes on\r\n\t- nested\r\n1. second\r\n\r\nprose stays\r\n"
    "```\r\n# code\r\n```\r\n+ \u4e2d\u6587"
).encode() + b" \xe9\xff"


def test_a_hand_edited_file_is_understood_and_kept(memory: Memory, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(HAND)
    assert list(shown(memory).values()) == [
        "first goes on - nested",
        "second",
        "中文 \udce9\udcff",
    ]
    memory.remember_command("third")
    assert path.read_bytes() == HAND.removeprefix("\ufeff".encode()) + (
        b"\r\n\r\n## Facts\r\n\r\n- [2026-11-23] third\r\n"
    )
    (first, *_) = shown(memory)
    memory.forget(first)
    assert path.read_bytes().startswith(b"My notes\r\n\r\n1. second\r\n\r\nprose stays")
    assert "prose stays" in told(memory)
    told(memory).encode()


def test_a_hand_edit_between_reading_and_writing_is_not_lost(
    memory: Memory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember_command("mine")
    replaced = SharedFile._replace

    def slow(self: SharedFile, before: bytes, after: bytes) -> bool:
        if b"theirs" not in path.read_bytes():
            path.write_bytes(path.read_bytes() + b"- theirs\n")
        return replaced(self, before, after)

    monkeypatch.setattr(SharedFile, "_replace", slow)
    memory.remember_command("also mine")
    assert [item.text for item in items_of(path.read_text())] == ["mine", "theirs", "also mine"]


def test_a_hand_edit_is_told_at_the_next_step(memory: Memory, path: Path) -> None:
    memory.remember_command("one")
    assert "one" in told(memory)
    path.write_text("- quite another thing\n")
    assert "quite another thing" in told(memory)
    path.unlink()
    assert told(memory) == ""


def test_a_link_to_the_file_stays_a_link(memory: Memory, path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    (tmp_path / "real.md").write_text("- one\n")
    (tmp_path / "real.md").chmod(0o640)
    path.symlink_to(tmp_path / "real.md")
    memory.remember_command("two")
    assert path.is_symlink()
    assert (tmp_path / "real.md").read_text() == ("- one\n\n## Facts\n\n- [2026-11-23] two\n")
    assert stat.S_IMODE((tmp_path / "real.md").stat().st_mode) == 0o640


def test_a_memory_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = open_memory(tmp_path / "file" / "MEMORY.md")
    with pytest.raises(UserError, match="Cannot read or save"):
        memory.remember_command("x")
    assert told(memory) == ""


def test_nothing_is_left_beside_the_file(memory: Memory, path: Path) -> None:
    memory.remember_command("one")
    assert [file.name for file in path.parent.iterdir()] == ["MEMORY.md"]


def long_memory(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"- [2026-11-01] the machine number {n} stands in rack {n}\n" for n in range(400)]
    path.write_text(
        "## Facts\n\n"
        + "".join(lines)
        + "- migrations are made with alembic\n\n## Preferences\n\n- answer briefly\n"
    )


def test_of_a_long_memory_what_fits_the_task_is_told_once(tmp_path: Path) -> None:
    replies = [text_reply("ok")] * 4
    with assembled_terminal(tmp_path, *replies) as env:
        long_memory(env.data.memory)
        run_turn(env.terminal, "write the alembic migration")
        first = str(env.model.requests[0])
        assert "- migrations are made with alembic" in first
        assert "- preference: answer briefly" in first
        assert "machine number" not in first
        run_turn(env.terminal, "and another migration")
        assert "memory" not in str(env.model.requests[1][len(env.model.requests[0]) :])
        run_turn(env.terminal, "restart machine number 77")
        added = str(env.model.requests[2][len(env.model.requests[1]) :])
        assert "Added to the memory:\\n- [2026-11-01] the machine number 77 stands" in added
        assert added.count("machine number") == 2
        assert "alembic" not in added
        id_prefix = env.terminal.session
    with assembled_terminal(tmp_path, text_reply("ok")) as env:
        env.terminal.resume(id_prefix)
        run_turn(env.terminal, "restart machine number 77 again")
        assert str(env.model.requests[0]).count("Memory of earlier sessions") == 1
        assert "machine number 77 stands" in str(env.model.requests[0])


def test_a_long_memory_can_be_read_whole(tmp_path: Path) -> None:
    reading = call_reply("read_file", path="@memory", start_line=300)
    with assembled_terminal(tmp_path, reading, text_reply("ok")) as env:
        long_memory(env.data.memory)
        run_turn(env.terminal, "nothing fits this")
        assert 'Reading \\"@memory\\" shows all' in json.dumps(env.model.requests[0])
        assert "the machine number 399" in str(env.model.requests[1])


def test_a_change_of_the_memory_is_told_by_what_came_and_went(memory: Memory, path: Path) -> None:
    for text in ("one " * 50, "two " * 50):
        memory.remember_command(text)
    (before,) = memory.context()
    memory.forget(next(iter(shown(memory))))
    memory.remember_command("three")
    (now,) = memory.context()
    assert now.describe_change is not None
    assert now.describe_change(before.text) == (
        "Added to the memory:\n- [2026-11-23] three\n"
        f"No longer in the memory:\n- [2026-11-23] {'one ' * 49}one"
    )


def test_old_items_and_their_categories_are_understood(memory: Memory, path: Path) -> None:
    path.parent.mkdir()
    path.write_text("# Memory\n\n- preference: tabs\n- plain\n")
    with pytest.raises(ToolError, match="already"):
        memory.remember("tabs", category="preference")
    memory.remember("spaces", category="Preferences")
    memory.remember("eggs", category="decision")
    assert list(shown(memory).values()) == [
        "preference: tabs",
        "plain",
        "preference: [2026-11-23] spaces",
        "[2026-11-23] decision: eggs",
    ]


@pytest.mark.parametrize("text", ["<!--" * 100_000, "#" * 300_000], ids=["comments", "heading"])
def test_a_hostile_line_of_any_length_is_read_in_one_pass(
    memory: Memory, path: Path, text: str
) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(f"<!-- mine -->\n## Empty\n\n## Facts\n- tabs\n{text}")
    memory.before_request()
    assert "mine" not in told(memory)
    assert "Empty" not in told(memory)


@pytest.mark.parametrize("line", ["#use tabs", "# use tabs", "＃ use tabs "])
def test_a_typed_line_behind_the_mark_is_remembered(tmp_path: Path, line: str) -> None:
    with assembled_terminal(tmp_path, runs_shell_escapes=True) as env:
        (answer,) = run_turn(env.terminal, line)
        assert isinstance(answer, CommandAnswered)
        assert (answer.command, answer.ok) == ("/remember", True)
        assert "use tabs" in env.data.memory.read_text()


@pytest.mark.parametrize("line", ["# Plan\n- one", "## Plan", " # Plan", "#", "C# is meant"])
def test_markdown_and_what_is_not_typed_is_never_remembered(tmp_path: Path, line: str) -> None:
    with assembled_terminal(tmp_path, text_reply("Yes."), runs_shell_escapes=True) as env:
        run_turn(env.terminal, line)
        assert not env.data.memory.exists()
    with assembled_terminal(tmp_path, text_reply("Yes.")) as env:
        run_turn(env.terminal, "# use tabs")
        assert not env.data.memory.exists()
