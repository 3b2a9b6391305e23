"""What the twin of a folder can undo and redo is what its files show."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from core.cards import Change
from modules.checkpoints.clone.clone import ProjectClone
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.review.review import ReviewPart
from modules.checkpoints.undo.journal import UndoOperation
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.files.project import Project
from tests.modules.checkpoints.folders import checkpoints, folder_state
from tests.modules.checkpoints.test_undo_family import call, project, root, undo
from utils.i18n import UserError

__all__ = ["project", "root", "undo"]


@contextmanager
def twin(undo: UndoCommands, turn: int, tmp_path: Path) -> Iterator[tuple[Path, UndoCommands]]:
    """Give the twin of *turn* and the undo of its session."""
    folder, store = tmp_path / "twin", tmp_path / "twin-store"
    undo.clone_project(turn, folder)
    undo.copy_history_to(store, "copy", turn)
    with checkpoints(folder, store) as points:
        there = Project(folder)
        made = UndoCommands(there, LateCheckpoints(lambda: points, store))
        made.on_session_changed("copy")
        yield folder, made
        there.close()


def take_back(undo: UndoCommands, path: str) -> None:
    view = undo.review_view()
    assert view is not None
    undo.revert_part(view, ReviewPart(path))


def test_a_part_taken_back_later_is_not_redone_in_the_twin(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 2, "b", root / "g", "two\n")
    take_back(undo, "f")
    with twin(undo, 1, tmp_path) as (folder, there):
        assert (folder / "f").read_text() == "one\n"
        with pytest.raises(UserError, match="Nothing to redo"):
            there.redo("")
        there.undo("")
        assert (folder / "f").read_text() == "zero\n"


def test_a_part_taken_back_before_can_be_redone_in_the_twin(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    take_back(undo, "f")
    call(undo, 2, "b", root / "g", "two\n")
    with twin(undo, 1, tmp_path) as (folder, there):
        assert (folder / "f").read_text() == "zero\n"
        there.redo("")
        assert (folder / "f").read_text() == "one\n"


def test_a_call_undone_after_a_later_one_still_stands_in_the_twin(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 2, "b", root / "g", "two\n")
    undo.undo("turn 1")
    with twin(undo, 1, tmp_path) as (folder, there):
        assert (folder / "f").read_text() == "one\n"
        there.undo("")
        assert (folder / "f").read_text() == "zero\n"
        there.redo("")
        assert (folder / "f").read_text() == "one\n"


def test_an_undo_that_stands_in_the_twin_is_handed_over_with_it(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 2, "b", root / "g", "two\n")
    undo.undo("")
    undo.undo("")
    with twin(undo, 1, tmp_path) as (folder, there):
        assert (folder / "f").read_text() == "zero\n"
        there.redo("")
        assert (folder / "f").read_text() == "one\n"
        assert not (folder / "g").exists()


def test_the_twin_gives_out_no_number_that_its_origin_gave(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 2, "b", root / "g", "two\n")
    given = undo._index.record_progress(0, UndoOperation("undo", "s1"), None)[1].undo
    with twin(undo, 1, tmp_path) as (_, there):
        there.undo("")
        last = there._index.last_undo("copy")
        assert last is not None
        assert last.id > given


def test_a_call_whose_state_is_no_longer_kept_is_not_handed_over(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 1, "b", root / "g", "two\n")
    lost = undo.calls()[-1].after
    (root / "person").write_text("since")
    with undo._checkpoints.objects.database.writing() as connection:
        connection.execute("DELETE FROM snapshot WHERE id=?", (lost,))
    with twin(undo, 1, tmp_path) as (folder, there):
        (folder / "mine").write_text("mine")
        assert [one.call_id for one in there.calls()] == ["a"]
        call(there, 2, "c", folder / "h", "three\n")
        there.undo("")
        assert sorted(path.name for path in folder.iterdir()) == ["f", "g", "mine", "person"]


def test_what_was_accepted_later_is_no_change_in_the_twin(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    call(undo, 2, "b", root / "f", "one\ntwo\n")
    view = undo.review_view()
    assert view is not None
    undo.accept(view, [])
    with twin(undo, 1, tmp_path) as (_, there):
        seen = there.review_view()
        assert seen is not None
        (found,) = there.review.changes(seen)
        assert found.change == Change("modified", "f")
        (hunk,) = there.review.review_file(found).hunks or ()
        assert hunk.diff.splitlines()[1:] == ["-zero", "+one"]


def test_what_was_accepted_stays_accepted_in_the_twin(
    root: Path, undo: UndoCommands, tmp_path: Path
) -> None:
    call(undo, 1, "a", root / "f", "one\n")
    view = undo.review_view()
    assert view is not None
    undo.accept(view, [])
    with twin(undo, 1, tmp_path) as (_, there):
        seen = there.review_view()
        assert seen is not None
        assert not there.review.changes(seen)


def test_a_file_that_is_written_to_while_it_is_copied_is_as_it_was_in_the_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = tmp_path / "project" / "busy"
    busy.parent.mkdir()
    busy.write_text("one\n" * 9000)
    (busy.parent / "calm").write_text("calm\n")
    copy = shutil.copyfileobj

    def copied(source: IO[bytes], out: IO[bytes], length: int) -> None:
        if os.fstat(source.fileno()).st_ino == busy.stat().st_ino:
            out.write(source.read(10))
            busy.write_text("two\n" * 9000)
        copy(source, out, length)

    monkeypatch.setattr(ProjectClone, "_reflink", lambda *_: False)
    monkeypatch.setattr(shutil, "copyfileobj", copied)
    with checkpoints(busy.parent, tmp_path / "store") as points:
        assert points.clone(points.take().id, tmp_path / "twin") == []
    found = {path.name: path.read_text() for path in (tmp_path / "twin").iterdir()}
    assert found == {"busy": "one\n" * 9000, "calm": "calm\n"}
    assert busy.read_text() == "two\n" * 9000


def test_half_a_twin_never_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, target = tmp_path / "project", tmp_path / "twin"
    root.mkdir()
    for name in "abc":
        (root / name).write_text(name)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with checkpoints(root, tmp_path / "store") as points:
        now = points.take().id
        with monkeypatch.context() as patch:
            patch.setattr(ProjectClone, "_create", killed)
            with pytest.raises(KeyboardInterrupt):
                points.clone(now, target)
        assert not target.exists()
        assert points.clone(now, target) == []
        assert folder_state(target) == folder_state(root)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["project", "store", "twin"]
