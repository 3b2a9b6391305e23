"""Any call and any turn can be taken back and brought again, whatever came later."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.store.project_lock import ProjectLock
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.files.project import Project
from tests.modules.checkpoints.test_undo_family import call, family, project, root, rows
from utils.i18n import UserError, phrase

__all__ = ["project", "root"]
LINES = "".join(f"{number}\n" for number in range(1, 31))


@pytest.fixture
def undo(project: Project, root: Path, tmp_path: Path) -> Iterator[UndoCommands]:
    (root / "f").write_text(LINES)
    for made in family(project, tmp_path):
        call(made, 1, "a", root / "f", text(three="three"))
        call(made, 1, "b", root / "g", "one\n")
        call(made, 2, "c", root / "f", text(three="three", twenty="twenty"))
        call(made, 3, "d", root / "g", "two\n")
        yield made


def text(*, three: str = "3", twenty: str = "20") -> str:
    return LINES.replace("\n3\n", f"\n{three}\n").replace("\n20\n", f"\n{twenty}\n")


def title(card: object) -> str:
    assert isinstance(card, TableCard)
    return str(card.title)


def test_a_call_goes_though_others_came_later(root: Path, undo: UndoCommands) -> None:
    card = undo.undo("call 1").card
    assert title(card) == "Undid call 1 (turn 1); /redo restores it"
    assert (root / "f").read_text() == text(twenty="twenty")
    assert (root / "g").read_text() == "two\n"
    again = undo.redo("call 1").card
    assert title(again) == "Restored call 1 (turn 1)"
    assert (root / "f").read_text() == text(three="three", twenty="twenty")


def test_a_turn_goes_though_others_came_later(root: Path, undo: UndoCommands) -> None:
    undo.undo("turn 2")
    assert (root / "f").read_text() == text(three="three")
    undo.undo("turn 1")
    assert (root / "f").read_text() == text()
    assert (root / "g").read_text() == "two\n"  # changed since, so it was kept
    undo.redo("turn 2")
    assert (root / "f").read_text() == text(twenty="twenty")
    undo.redo("turn 1")
    assert (root / "f").read_text() == text(three="three", twenty="twenty")


def test_a_call_of_a_turn_that_was_undone_can_come_again_alone(
    root: Path, undo: UndoCommands
) -> None:
    undo.undo("turn 3")
    undo.undo("turn 1")
    assert not (root / "g").exists()
    undo.redo("call 1")
    assert (root / "f").read_text() == text(three="three", twenty="twenty")
    assert not (root / "g").exists()
    undo.redo("call 2")
    assert (root / "g").read_text() == "one\n"
    assert [bool(one.is_undone) for one in undo.calls()] == [False, False, False, True]


def test_a_conflict_keeps_both(root: Path, undo: UndoCommands) -> None:
    (root / "f").write_text(text(three="mine", twenty="twenty"))
    assert rows(undo.undo("call 1").card) == [
        ["both kept", "f", "your version is kept; the earlier one is f.undo-conflict"]
    ]
    assert (root / "f").read_text() == text(three="mine", twenty="twenty")
    undo.redo("call 1")
    assert not (root / "f.undo-conflict").exists()


def test_the_numbers_are_listed(undo: UndoCommands) -> None:
    undo.undo("call 2")
    assert rows(undo.undo("list").card) == [
        ["1", "1", "f", ""],
        ["2", "1", "g", "undone"],
        ["3", "2", "f", ""],
        ["4", "3", "g", ""],
    ]
    undo.on_session_changed("another")
    assert isinstance(undo.undo("list").card, TextCard)


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("call 9", "No call 9"),
        ("turn 9", "Turn 9 changed no file"),
        ("call 0", "/undo turn 3"),
        ("all", "/undo turn 3"),
    ],
)
def test_what_is_not_there_is_said(undo: UndoCommands, rest: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        undo.undo(rest)


def test_nothing_is_undone_or_redone_twice(undo: UndoCommands) -> None:
    with pytest.raises(UserError, match="it was not undone"):
        undo.redo("call 1")
    undo.undo("call 1")
    with pytest.raises(UserError, match="/redo call 1 restores it"):
        undo.undo("call 1")
    undo.undo("turn 1")
    with pytest.raises(UserError, match="/redo turn 1 restores it"):
        undo.undo("turn 1")
    undo.undo("")
    undo.undo("")
    with pytest.raises(UserError, match="/redo restores"):
        undo.undo("")


def test_the_model_hears_of_each_until_it_knows(undo: UndoCommands) -> None:
    undo.undo("call 3")
    undo.redo("call 3")
    (section,) = undo.context()
    assert section.text.split("\n") == [
        "The person took back what one call of turn 2 did to files (undo 1): f. "
        "Look before you change them again.",
        "The person brought again what one call of turn 2 did to files: f.",
    ]


def test_numbers_stay_through_restart_fork_and_collection(
    project: Project, tmp_path: Path, undo: UndoCommands
) -> None:
    undo.on_fork("s1", "s2", 2)
    for again in family(project, tmp_path):
        again.on_session_changed("s2")
        assert [(one.number, one.turn) for one in again.calls()] == [(1, 1), (2, 1), (3, 2)]


def test_a_store_of_before_gets_its_numbers(
    project: Project, tmp_path: Path, undo: UndoCommands
) -> None:
    undo.on_fork("s1", "s2", 1)
    undo._checkpoints.objects.database.close()
    with closing(sqlite3.connect(tmp_path / "store" / "checkpoints.db")) as old:
        old.execute("DROP TABLE accepted")
        old.execute("DROP TABLE writing")
        old.execute("ALTER TABLE call DROP COLUMN number")
        old.execute("ALTER TABLE journal DROP COLUMN operation")
        old.execute("PRAGMA user_version=1")
        old.commit()
    for again in family(project, tmp_path):
        assert [one.number for one in again.calls()] == [1, 2, 3, 4]
        view = again.review_view()
        assert view is not None
        again.accept(view, [])
        again.on_session_changed("s2")
        assert [one.number for one in again.calls()] == [1, 2]


def test_nothing_is_taken_back_while_another_session_works(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    other = ProjectLock(tmp_path / "store" / "work")
    undo.on_turn_end()
    other.acquire("s2")
    for command in (undo.undo, undo.redo, undo.rewind):
        with pytest.raises(UserError, match="Session s2 is at work"):
            command("")
    other.release()
    undo.undo("")
    assert (root / "g").read_text() == "one\n"


def test_what_was_too_large_names_the_limit_and_the_setting(
    root: Path, project: Project, tmp_path: Path
) -> None:
    (root / "big").write_text("x" * 2000)
    for undo in family(project, tmp_path):
        undo.before_call("a", 1)
        (root / "big").unlink()
        undo.after_call("a", 1)
        undo.on_turn_end()
        why = "larger than 1.0 kB, the most that checkpoints hold of one file (setting "
        assert rows(undo.undo("").card) == [["not restored", "big", f"{why}checkpoint_file_mb)"]]


def test_what_is_there_as_it_was_says_so(root: Path, undo: UndoCommands) -> None:
    (root / "f").write_text(LINES)
    undo.undo("call 3")
    assert rows(undo.undo("call 1").card) == [["nothing left to undo"]]


def test_what_an_undo_that_broke_off_did_not_reach_can_still_be_undone(
    undo: UndoCommands, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_call(name: str) -> None:
        undo.before_call(name, 7)
        (project.root / name).write_text(name)
        undo.after_call(name, 7)

    one_call("early")
    (project.root / "between").write_text("by the person")  # so the two are not undone in one go
    one_call("late")
    go, tries = Checkpoints._run_part, iter([True, False])

    def full(self: Checkpoints, *values: Any) -> Any:
        if not next(tries):
            raise UserError(phrase("The disk is full."))
        return go(self, *values)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "_run_part", full)
        with pytest.raises(UserError, match="disk is full"):
            undo.undo("turn 7")
    assert [one.is_undone for one in undo.calls() if one.turn == 7] == [False, True]
    assert "Completed the interrupted undo" in str(undo.undo("turn 7").card)
    assert not (project.root / "early").exists()
    assert (project.root / "between").exists()
    undo.redo("")
    assert (project.root / "early").exists()
    assert (project.root / "late").exists()


def test_the_same_text_written_again_needs_no_second_copy(undo: UndoCommands, root: Path) -> None:
    undo.before_call("gone", 4)
    (root / "f").unlink()
    undo.after_call("gone", 4)
    undo.on_turn_end()
    was = text(three="three", twenty="twenty")
    (root / "f").write_text(was)  # by the person, who missed it
    undo.undo("turn 4")
    assert (root / "f").read_text() == was
    assert sorted(path.name for path in root.iterdir()) == ["f", "g"]
