"""Symbols are found by name, as the files are now, and only there where people may look."""

from __future__ import annotations

from pathlib import Path

import pytest

from modules.files.project import Project
from modules.symbols import symbol_index
from modules.symbols.symbol_index import SymbolIndex


def names(index: SymbolIndex, query: str, limit: int = 9) -> list[str]:
    return [symbol.name for symbol in index.find_symbols(query, limit).symbols]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_best_names_come_first_and_words_narrow_them(project: Project) -> None:
    text = "class Till:\n    def charge(self): ...\ndef charge_all(): ...\ndef recharge(): ...\n"
    (project.root / "shop.py").write_text(text)
    (project.root / "notes.md").write_text("# How to charge\n")
    index = SymbolIndex(project)
    assert names(index, "CHARGE") == ["Till.charge", "charge_all", "recharge", "How to charge"]
    assert names(index, "charge", 1) == ["Till.charge"]
    assert names(index, "till.ch") == ["Till.charge"]
    assert names(index, "charge notes") == ["How to charge"]
    assert names(index, "  ") == names(index, "shop") == []
    (symbol,) = index.find_symbols("recharge", 9).symbols
    assert symbol == ("recharge", "function", "shop.py", 4)


def test_a_changed_file_is_read_again_and_a_lost_one_forgotten(project: Project) -> None:
    path = project.root / "a.py"
    index = SymbolIndex(project)
    for name in ("one", "two", "six"):  # of one length: the size alone would not tell
        path.write_text(f"def {name}(): ...\n")
        assert names(index, name) == [name]
    assert names(index, "one") == []
    path.unlink()
    assert names(index, "six") == []


def test_nothing_is_read_twice_or_before_it_is_asked_for(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    path = project.root / "a.py"
    path.write_text("def one(): ...\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    reads: list[str] = []
    read = project.read_bytes

    def counted(path: str, limit: int) -> bytes:
        reads.append(path)
        return read(path, limit)

    monkeypatch.setattr(project, "read_bytes", counted)
    index = SymbolIndex(project)
    assert names(index, "") == []
    assert reads == []
    assert names(index, "one") == names(index, "on") == ["one"]
    assert reads == ["a.py"]


def test_what_there_is_no_time_for_is_said_and_read_by_the_next_question(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        (project.root / f"{number}.py").write_text("def one(): ...\n")
    index = SymbolIndex(project)
    monkeypatch.setattr(symbol_index, "_READ_SECONDS", -1.0)
    assert index.find_symbols("one", 9) == ([], 3)
    monkeypatch.setattr(symbol_index, "_READ_SECONDS", 600.0)
    assert index.find_symbols("one", 9).unread == 0
    assert names(index, "one") == ["one"] * 3


def test_ignored_linked_large_and_binary_files_hold_none(project: Project, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name} outside.py"
    outside.write_text("def one(): ...\n")
    (project.root / "link.py").symlink_to(outside)
    (project.root / ".gitignore").write_text("ignored.py\n")
    (project.root / "ignored.py").write_text("def one(): ...\n")
    (project.root / "large.py").write_text("def one(): ...\n" + "#" * 1_000_000)
    (project.root / "binary.py").write_bytes(b"def one(): ...\n\x00\x01\xff" * 9)
    assert names(SymbolIndex(project), "one") == []
