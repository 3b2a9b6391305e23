"""What a session changed is told from what others did."""

from __future__ import annotations

from pathlib import Path

from modules.checkpoints.review.attribution import SessionChanges
from modules.checkpoints.undo.journal import OperationPart, UndoOperation
from tests.modules.checkpoints.folders import checkpoints


def test_an_undo_that_did_what_a_call_did_owns_only_what_it_made(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "f").write_text("old\n")
    with checkpoints(root, tmp_path / "store") as points:
        before = points.begin_call("s", 1, "c").id
        (root / "f").write_text("new\n")
        after = points.take().id
        (call,) = points.index.calls("s")
        points.index.end_call(call.id, after, 1)
        points.index.record_progress(
            0, UndoOperation("undo", "s", (OperationPart(after),)), (before, after)
        )
        own = SessionChanges(points)
        assert own.paths("s") == {"f"}
        points.undo(before, after)
        part = OperationPart(before, after, (call.id,))
        points.index.record_progress(0, UndoOperation("undo", "s", (part,)), (after, before))
        assert own.paths("s") == set()
