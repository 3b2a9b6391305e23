"""What is taken from a clone: the folder becomes the clone, and one undo makes it what it was."""

from __future__ import annotations

import random
from pathlib import Path

from modules.checkpoints.undo.journal import OperationPart, UndoOperation
from tests.campaign import seeded
from tests.modules.checkpoints.folders import (
    FolderState,
    RandomEditor,
    checkpoints,
    folder_state,
    make_tree,
)


def state_of(root: Path) -> FolderState:
    """Return the state of all in *root*: modes, times, links, ignored files, empty folders.

    The times of folders are left out: they tell when we put something into them.
    """
    state = folder_state(root)
    return {
        path: (mode, None if root.joinpath(path).is_dir() else time, content)
        for path, (mode, time, content) in state.items()
    }


def make_project(root: Path, seed: int) -> None:
    root.mkdir()
    make_tree(root, random.Random(seed).choice([0, 5, 60]), seed=seed)
    (root / ".gitignore").write_text("ignored/\n*.log\n")
    (root / "ignored").mkdir()
    (root / "ignored" / "kept.log").write_text("ignored\n")
    RandomEditor(root, seed).act(20)


@seeded(5)
def test_a_folder_that_nobody_touched_becomes_the_clone_and_one_undo_makes_it_what_it_was(
    tmp_path: Path, seed: int
) -> None:
    project, copy = tmp_path / "project", tmp_path / "copy"
    make_project(project, seed)
    with checkpoints(project, tmp_path / "store") as ours:
        begun = ours.take()
        assert ours.clone(begun.id, copy) == []
        was = state_of(project)
        assert state_of(copy) == was
        with checkpoints(copy, tmp_path / "copy-store") as theirs:
            before = theirs.take()
            RandomEditor(copy, seed + 1).act(random.Random(seed).choice([1, 10, 60]))
            result = ours.take_from(theirs, before.id, theirs.take().id)
        assert (result.conflicts, result.skipped) == ((), ())
        assert state_of(project) == state_of(copy)
        part = OperationPart(result.before, result.after)
        undone = ours.run(UndoOperation("nothing", parts=(part,))).results[0]
        assert (undone.conflicts, undone.skipped) == ((), ())
        assert state_of(project) == was
