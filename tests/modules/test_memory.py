"""The memory is the person's own file: nothing enters unasked, no edit of theirs is lost."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from core.cards import TableCard, TextCard
from core.tools import Tool, ToolError
from modules.memory_manager import Memory, items_of
from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "MEMORY.md"


@pytest.fixture
def memory(path: Path) -> Memory:
    return Memory(path)


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
    assert told(Memory(path)) == (
        "Memory of earlier sessions, agreed with the person:\n"
        "- Tests run with make check\n- preference: tabs"
    )
    assert told(memory) == told(Memory(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_remembered_twice_or_empty(memory: Memory) -> None:
    memory.remember_command("用中文回答")
    with pytest.raises(ToolError, match="already"):
        memory.remember("用中文回答")
    with pytest.raises(ToolError, match="empty"):
        memory.remember_command("")


def test_an_id_stays_when_others_come_and_go(memory: Memory) -> None:
    for text in ("one", "two", "three"):
        memory.remember_command(text)
    ids = {text: id_ for id_, text in shown(memory).items()}
    assert all(len(id_) == 4 for id_ in ids.values())
    assert memory.forget(ids["two"]) == TextCard(phrase("Forgotten"), "two")
    assert shown(memory) == {ids["one"]: "one", ids["three"]: "three"}
    for wrong in ("zzzz", ids["two"]):
        with pytest.raises(ToolError, match="shows nothing under"):
            memory.forget(wrong)
    with pytest.raises(ToolError, match="Which one"):
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
    assert path.read_bytes() == HAND.removeprefix("\ufeff".encode()) + b"\r\n- third\r\n"
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


def test_a_long_memory_is_cut_and_says_so(memory: Memory, path: Path) -> None:
    path.parent.mkdir()
    path.write_text("".join(f"- thing number {number}\n" for number in range(2000)))
    text = told(memory)
    assert len(text) < 8_000
    count = text.count("\n- ")
    assert text.endswith(f"(The memory is longer: {2000 - count} more lines are not shown.)")


def test_a_link_to_the_file_stays_a_link(memory: Memory, path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    (tmp_path / "real.md").write_text("- one\n")
    (tmp_path / "real.md").chmod(0o640)
    path.symlink_to(tmp_path / "real.md")
    memory.remember_command("two")
    assert path.is_symlink()
    assert (tmp_path / "real.md").read_text() == "- one\n- two\n"
    assert stat.S_IMODE((tmp_path / "real.md").stat().st_mode) == 0o640


def test_a_memory_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Memory(tmp_path / "file" / "MEMORY.md")
    with pytest.raises(UserError, match="cannot be read or kept"):
        memory.remember_command("x")
    assert told(memory) == ""


def test_nothing_is_left_beside_the_file(memory: Memory, path: Path) -> None:
    memory.remember_command("one")
    assert [file.name for file in path.parent.iterdir()] == ["MEMORY.md"]
