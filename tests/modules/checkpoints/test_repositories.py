"""Submodules and work trees come back whole: what says where git's data is, comes back too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.modules.checkpoints.folders import checkpoints, folder_state

SETTINGS = [
    "user.name=n", "user.email=e@example.org", "init.defaultBranch=main",
    "protocol.file.allow=always",
]  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    command = ["git", *settings, *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "main.c").write_text("main\n")
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "all")
    return folder


def test_a_deleted_submodule_and_work_tree_come_back_as_such(tmp_path: Path) -> None:
    root = repository(tmp_path / "project")
    git(root, "submodule", "add", str(repository(tmp_path / "library")), "lib")
    git(root, "commit", "-m", "submodule")
    git(root, "worktree", "add", "tree")
    states = git(root, "submodule", "status"), git(root / "tree", "status", "--short")
    with checkpoints(root, tmp_path / "store") as points:
        was, before = folder_state(root), points.take()
        shutil.rmtree(root / "lib")
        shutil.rmtree(root / "tree")
        after = points.take()
        done = points.undo(before.id, after.id)
        assert (done.skipped, done.conflicts) == ((), ())
        assert folder_state(root) == was
        assert (git(root, "submodule", "status"), git(root / "tree", "status", "--short")) == states
        points.undo(done.before, done.after)
        assert not any((root / name).exists() for name in ("lib", "tree"))


def test_a_submodule_that_a_call_added_goes_whole(tmp_path: Path) -> None:
    root = repository(tmp_path / "project")
    library = repository(tmp_path / "library")
    with checkpoints(root, tmp_path / "store") as points:
        before = points.take()
        git(root, "submodule", "add", str(library), "lib")
        after = points.take()
        assert points.undo(before.id, after.id).skipped == ()
        assert sorted(path.name for path in root.iterdir()) == [".git", "main.c"]


def test_a_repository_inside_that_the_git_file_names_is_left_to_git(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--separate-git-dir", ".bare", ".")
    with checkpoints(root, tmp_path / "store") as points:
        before = points.take()
        (root / "main.c").write_text("main\n")
        git(root, "add", "main.c")
        git(root, "commit", "-m", "one")
        done = points.undo(before.id, points.take().id)
        assert (done.skipped, done.conflicts) == ((), ())
        assert git(root, "log", "--format=%s") == "one\n"
        assert git(root, "fsck") == ""
        assert sorted(path.name for path in root.iterdir()) == [".bare", ".git"]
