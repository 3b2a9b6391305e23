"""A kill where a call begins while a job runs: nothing stands in two records, or in a wrong one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.store.index import CheckpointIndex
from modules.checkpoints.undo.recorder import CallRecorder
from modules.files.project import Project


class Killed(BaseException):
    """What stands for the death of the process."""


@contextmanager
def recording(root: Path, store: Path, background: str) -> Iterator[CallRecorder]:
    project = Project(root)
    late = LateCheckpoints(
        lambda: Checkpoints(root, store, file_cap=10**7, total_cap=10**9, keep_days=7), store
    )
    recorder = CallRecorder(project, late)
    recorder.on_session_changed("session")
    recorder.watch_background(lambda: background)
    try:
        yield recorder
    finally:
        recorder.close()
        project.close()


@pytest.mark.parametrize(("died_at", "expected"), [("end_call", "person"), ("begin_call", "job")])
def test_what_a_job_did_is_in_its_record_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, died_at: str, expected: str
) -> None:
    root, store = tmp_path / "project", tmp_path / "store"
    root.mkdir()
    file = root / "file"
    file.write_text("first\n")
    with recording(root, store, "job 1") as recorder:
        recorder.before_call("c1", 1)
        recorder.after_call("c1", 1)
        file.write_text("by the job\n")
        with monkeypatch.context() as dying:
            dying.setattr(CheckpointIndex, died_at, _die)
            with pytest.raises(Killed):
                recorder.before_call("c2", 1)
    file.write_text("by the person\n")  # after the kill, before the next start
    with recording(root, store, "") as recorder:
        recorder.on_turn_start()
        (call,) = recorder.calls()
        assert call.background
        _, after = recorder.contents_around(call.call_id, "file")
        assert after == f"by the {expected}\n".encode()
        assert [change.path for change in recorder.changes_of(call.call_id)] == ["file"]


def _die(*_: object) -> None:
    raise Killed
