from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cards import Change, DiffCard, TableCard, TextCard
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.restore import atomic_file
from modules.checkpoints.snapshot import scanner
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.files.project import Project
from tests.declared_tools import tool_named
from tests.modules.checkpoints.folders import folder_state
from utils.i18n import UserError, phrase


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "f").write_text("zero\n")
    return folder


@pytest.fixture
def project(root: Path) -> Iterator[Project]:
    made = Project(root)
    yield made
    made.close()


@pytest.fixture
def undo(project: Project, tmp_path: Path) -> Iterator[UndoCommands]:
    yield from family(project, tmp_path)


def family(project: Project, tmp_path: Path, file_cap: int = 1000) -> Generator[UndoCommands]:
    points = Checkpoints(
        project.root, tmp_path / "store", file_cap=file_cap, total_cap=10**9, keep_days=7
    )
    made = UndoCommands(project, LateCheckpoints(lambda: points, tmp_path / "store"))
    made.on_session_changed("s1")
    yield made
    points.close()


def call(undo: UndoCommands, turn: int, call_id: str, path: Path, text: str) -> None:
    undo.before_call(call_id, turn)
    path.write_text(text)
    undo.after_call(call_id, turn)


def rows(card: object) -> list[list[str]]:
    assert isinstance(card, TableCard)
    return [[str(cell) for cell in row] for row in card.rows]


def test_undo_goes_back_turn_by_turn(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 2, "b", root / "f", "two\n")
    call(undo, 2, "c", root / "g", "two\n")
    assert rows(undo.undo("").card) == [["reverted", "f", ""], ["removed", "g", ""]]
    assert (root / "f").read_text() == "one\n"
    undo.undo("turn")
    assert (root / "f").read_text() == "zero\n"
    with pytest.raises(UserError, match="Nothing (left )?to undo"):
        undo.undo("")


def test_undo_of_one_call(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 1, "b", root / "g", "one\n")
    undo.undo("call")
    assert (root / "f").read_text() == "one\n"
    assert not (root / "g").exists()


def test_redo_takes_back_the_undo_and_undo_can_go_on(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    now = folder_state(root)
    undo.undo("")
    undo.redo("")
    assert folder_state(root) == now
    with pytest.raises(UserError, match="Nothing to redo"):
        undo.redo("")
    undo.undo("")
    assert (root / "f").read_text() == "zero\n"


def test_what_the_person_did_between_two_calls_stays(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "g", "one\n")
    (root / "mine").write_text("mine")
    call(undo, 1, "b", root / "h", "one\n")
    undo.undo("")
    assert sorted(path.name for path in root.iterdir()) == ["f", "mine"]


def test_rewind_restores_the_state_before_a_turn(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    was = folder_state(root)
    call(undo, 2, "b", root / "f", "two\n")
    (root / "mine").write_text("mine")
    call(undo, 3, "c", root / "f", "three\n")
    told = str(undo.rewind("2").card)
    assert "changes made outside this session" in told
    assert "values={'paths': 'mine'}" in told
    assert folder_state(root) == was
    undo.redo("")
    assert (root / "mine").read_text() == "mine"


def test_diff_shows_one_file_or_lists_many(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    card = undo.diff("")
    assert isinstance(card, DiffCard)
    assert (card.path, card.diff) == ("f", "@@ -1 +1 @@\n-zero\n+one")
    call(undo, 2, "b", root / "g", "two\n")
    assert rows(undo.diff("")) == [["modified", "f", "+1 −1"], ["created", "g", "+1 −0"]]
    assert isinstance(undo.diff("2"), DiffCard)
    assert isinstance(undo.diff("1 f"), DiffCard)
    with pytest.raises(UserError, match="has not changed"):
        undo.diff("2 f")


def test_diff_says_once_where_a_file_came_from(root: Path, undo: UndoCommands) -> None:
    undo.before_call("a", 1)
    (root / "f").rename(root / "h")
    (root / "g").write_text("two\n")
    undo.after_call("a", 1)
    assert rows(undo.diff("")) == [["renamed", "f → h", ""], ["created", "g", "+1 −0"]]


def test_diff_says_when_nothing_has_changed(root: Path, undo: UndoCommands) -> None:
    nothing = TextCard(phrase("No changes {since}.", since=phrase("in this session")))
    assert undo.diff("") == nothing
    call(undo, 1, "a", root / "f", "one\n")
    undo.undo("")
    assert undo.diff("") == nothing


def test_a_call_that_changed_nothing_leaves_no_trace(root: Path, undo: UndoCommands) -> None:
    undo.before_call("a", 1)
    undo.after_call("a", 1)
    assert undo.changes_of("a") == ()
    with pytest.raises(UserError, match="Nothing (left )?to undo"):
        undo.undo("")


def test_a_calls_changes_are_known_whatever_made_them(root: Path, undo: UndoCommands) -> None:
    undo.before_call("a", 1)
    (root / "f").rename(root / "g")
    undo.after_call("a", 1)
    assert undo.changes_of("a") == [Change("renamed", "f", "g")]


def test_another_start_and_a_call_cut_short_can_be_undone(
    root: Path, project: Project, tmp_path: Path
) -> None:
    for first in family(project, tmp_path):
        call(first, 1, "a", root / "f", "one\n")
        first.before_call("b", 2)
        (root / "f").write_text("half done")
    for second in family(project, tmp_path):
        second.undo("")
        assert (root / "f").read_text() == "one\n"
        second.undo("")
        assert (root / "f").read_text() == "zero\n"


def test_sessions_do_not_undo_each_other(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    undo.on_session_changed("s2")
    with pytest.raises(UserError, match="Nothing (left )?to undo"):
        undo.undo("")


def test_what_cannot_be_held_is_said_once_and_asked_about(root: Path, undo: UndoCommands) -> None:
    (root / "big").write_text("x" * 2000)
    call(undo, 1, "a", root / "f", "one\n")
    (warning,) = undo.warnings()
    assert "big" in str(warning)
    call(undo, 1, "b", root / "f", "two\n")
    assert undo.warnings() == []
    assert undo.approval_reason(tool_named("delete_file"), {"path": "./big"}) is not None
    assert undo.approval_reason(tool_named("delete_file"), {"path": "f"}) is None
    assert undo.approval_reason(tool_named("delete_file"), {"path": "../outside"}) is None
    assert undo.approval_reason(tool_named("delete_folder"), {"path": "."}) is None


def test_each_command_says_what_it_did_to_files(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "g", "one\n")
    gone, back = (Change("deleted", "g"),), (Change("created", "g"),)
    assert undo.undo("").changes == gone
    assert undo.redo("turn 1").changes == back
    assert undo.rewind("1 files").changes == gone
    assert undo.redo("").changes == back


def test_conflicts_and_what_was_left_are_shown(root: Path, undo: UndoCommands) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 1, "b", root / "g", "one\n")
    (root / "f").write_text("mine\n")
    (root / "g").write_text("mine\n")
    assert rows(undo.undo("").card) == [
        ["both kept", "f", "your version is kept; the earlier one is f.undo-conflict"],
        ["unchanged", "g", "kept: changed since"],
    ]


def test_what_a_killed_write_left_behind_is_removed(
    root: Path, project: Project, tmp_path: Path
) -> None:
    for first in family(project, tmp_path):
        first.before_call("a", 1)
        (root / ".0123456789abcdef.tmp").write_text("half")
        (root / "mine.tmp").write_text("mine")
    for second in family(project, tmp_path):
        second.before_call("b", 2)
        assert sorted(path.name for path in root.iterdir()) == ["f", "mine.tmp"]


def test_an_undo_that_had_no_room_can_be_tried_again(
    root: Path, undo: UndoCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    was = folder_state(root)
    undo.before_call("a", 1)
    (root / "f").unlink()
    (root / "made").write_text("made\n")
    undo.after_call("a", 1)
    then = folder_state(root)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(atomic_file, "_write", full)
        card = undo.undo("").card
        assert ["not restored", "f", f"system error: {os.strerror(errno.ENOSPC)}"] in rows(card)
        assert "Partly undone" in str(card)
        assert not (root / "made").exists()
    undo.undo("")
    assert folder_state(root) == was
    undo.redo("")
    undo.redo("")
    assert folder_state(root) == then


@pytest.mark.parametrize("line", ["rewind", "undo"])
def test_one_of_which_a_state_is_lost_in_the_midst_says_so(
    root: Path, undo: UndoCommands, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """A damaged store may lose it after all was looked at, before it is done."""
    call(undo, 1, "a", root / "f", "one\n")
    real, seen = Checkpoints._planner, []

    def lost(self: Checkpoints, *arguments: Any) -> Any:
        seen.append(arguments)
        if len(seen) > 1:
            raise UserError(phrase("This state of the folder is no longer kept."))
        return real(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "_planner", lost)
        with pytest.raises(UserError, match="is damaged and could not be finished"):
            getattr(undo, line)("1" if line == "rewind" else "")
    assert (root / "f").read_text() == "one\n"
    undo.undo("")
    assert (root / "f").read_text() == "zero\n"


def test_a_command_is_asked_about_where_folders_are_too_deep_to_be_held(
    root: Path, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanner, "_LEVELS", 150)
    made = family(project, tmp_path)
    undo = next(made)
    assert undo.approval_reason(tool_named("run_command"), {"command": "rm -r *"}) is None
    undo.before_call("a", 1)
    (root / "/".join("d" * 200)).mkdir(parents=True)
    undo.after_call("a", 1)
    assert "nested deeper" in str(
        undo.approval_reason(tool_named("run_command"), {"command": "rm -r *"})
    )
    assert "nested deeper" in str(undo.approval_reason(tool_named("run_python"), {"code": "1"}))
    assert undo.approval_reason(tool_named("create_file"), {"path": "x"}) is None
    next(made, None)  # closes it
    made = family(project, tmp_path)
    again = next(made)
    assert "nested deeper" in str(
        again.approval_reason(tool_named("run_command"), {"command": "rm -r *"})
    )
    next(made, None)  # closes it
