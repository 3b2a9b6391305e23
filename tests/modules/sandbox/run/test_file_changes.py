from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.cards import Change
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.filesystem.folders import list_entries
from modules.sandbox.run import file_changes as module
from modules.sandbox.run.file_changes import FileChanges, FolderState, compare_scans, scan_files

LONG = "n" * 200
"""A name for folders whose paths together are too long for the system."""


def test_what_happened_to_files_is_seen(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("same", "edited", "gone", "moved", "sub/kept"):
        (tmp_path / name).write_text(name)
    before = scan_files(tmp_path)
    (tmp_path / "edited").write_text("other.")
    (tmp_path / "gone").unlink()
    (tmp_path / "moved").rename(tmp_path / "sub" / "here")
    (tmp_path / "new").symlink_to("same")
    assert compare_scans(before, scan_files(tmp_path)) == FileChanges(
        (
            Change("modified", "edited"),
            Change("deleted", "gone"),
            Change("renamed", "moved", "sub/here"),
            Change("created", "new"),
        )
    )


def test_a_change_that_hides_behind_its_old_time_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one")
    old = file.stat()
    before = scan_files(tmp_path)
    file.write_text("two")
    os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert compare_scans(before, scan_files(tmp_path)).changes == (Change("modified", "f"),)


def test_folders_are_told_only_when_nothing_in_them_is(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    before = scan_files(tmp_path)
    (tmp_path / "old").rmdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "f").touch()
    assert compare_scans(before, scan_files(tmp_path)).changes == (
        Change("created", "a/b"),
        Change("created", "c/f"),
        Change("deleted", "old"),
    )


def test_the_inside_of_git_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    before = scan_files(tmp_path)
    (tmp_path / ".git" / "objects" / "x").touch()
    assert compare_scans(before, scan_files(tmp_path)) == FileChanges()


def test_a_mount_point_of_ours_that_goes_while_we_look_was_never_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked_at(folder: str) -> list[os.DirEntry[str]] | None:
        found = list_entries(folder)
        (tmp_path / ".git").rmdir()
        return found

    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(module, "list_entries", looked_at)
    assert scan_files(tmp_path) == FolderState({}, frozenset())


def test_what_runs_later_is_pointed_out(tmp_path: Path) -> None:
    before = scan_files(tmp_path)
    made = (
        *(".vscode/tasks.json", ".envrc", "lib/evil.pth", "tests/conftest.py", "fine.py"),
        *("sub/.git/config", "sub/.git/hooks/pre-commit", "sub/.git/objects/x"),
        "sub/.git/hooks/pre-push.sample",
        *("bare/HEAD", "bare/objects/x", "bare/refs/x", "other/HEAD"),
    )
    for name in made:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert compare_scans(before, scan_files(tmp_path)).run_later == (
        *(".envrc", ".vscode/tasks.json", "bare/HEAD", "lib/evil.pth"),
        *("sub/.git/config", "sub/.git/hooks/pre-commit", "tests/conftest.py"),
    )


def test_a_repository_that_two_runs_make_together_is_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "HEAD").write_text("ref: refs/heads/main")
    before = scan_files(tmp_path)
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    assert compare_scans(before, scan_files(tmp_path)).run_later == ("HEAD",)


def deepest(folder: Path, depth: int) -> int:
    """Make *depth* folders called `LONG` in each other; return a descriptor of the innermost."""
    inner = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(LONG, dir_fd=inner)
        inner, above = os.open(LONG, os.O_RDONLY, dir_fd=inner), inner
        os.close(above)
    return inner


def test_files_too_deep_for_a_path_are_seen(tmp_path: Path) -> None:
    before = scan_files(tmp_path)
    folder = deepest(tmp_path, 30)
    os.close(os.open("x.pth", os.O_CREAT, dir_fd=folder))
    os.close(folder)
    done = compare_scans(before, scan_files(tmp_path))
    path = "/".join([*[LONG] * 30, "x.pth"])
    assert done.changes == (Change("created", path),)
    assert done.run_later == (path,)
    remove_scratch(tmp_path / LONG)


def test_folders_without_end_are_not_followed_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their paths would take all of the memory."""
    os.close(deepest(tmp_path, 2_000))
    seen = scan_files(tmp_path)
    assert seen
    assert seen.unreadable
    assert max(map(len, seen.folders)) < 100_000
    monkeypatch.setattr(module, "MAX_PATH_CHARACTERS", 100_000)
    assert scan_files(tmp_path) is None
    remove_scratch(tmp_path / LONG)


def test_what_is_locked_is_not_taken_for_deleted() -> None:
    folders = frozenset({"folder"})
    open_ = FolderState({"folder/file": (0, 1, 2, 3, 4)}, folders)
    locked = FolderState({}, folders, unreadable=folders)
    assert compare_scans(open_, locked).changes == (Change("modified", "folder"),)
    assert compare_scans(locked, open_).changes == ()


def test_a_huge_folder_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    before = scan_files(tmp_path)
    for name in "abc":
        (tmp_path / name).touch()
    assert scan_files(tmp_path) is None
    assert compare_scans(before, scan_files(tmp_path)) == FileChanges(are_known=False)
